// Package bench measures Skein: beside other libraries on the same messages, and
// beside itself at other lengths of the thread.
//
//	make bench                 from the repository's root: everything, with a summary
//	go test -bench Turn        one of them
//
// SKEIN_BENCH_MESSAGES lists the lengths of the threads, 100,1000,10000 unless it
// is set; a thread of a million takes minutes to make, once. Files are kept in
// SKEIN_BENCH_DIR, or in the user's cache folder.
//
// How threads are served to those who watch them, beside centrifuge, is measured by
// package live, with the command of that name: each case in processes of its own.
//
// Warm means that the engine has the thread's end at hand, as in a server;
// cold means that it starts with the file alone, which the system may have in its
// cache.
package bench
