// Package guide tells an agent how to work: instructions, which every prompt
// holds, and skills, which it loads when it needs them.
//
// Instructions are texts and resolvers. [Resolve] asks them all at once, once a
// turn, and joins what they give. They are never part of the history, so that no
// cut can lose them.
//
// A skill is instructions under a name, with tools of its own and files beside
// them. The prompt holds one line of each:
//
//	instructions      … - review: How we review a change.
//	tools             … git (always told, so that the prompt's start holds still) … load_skill
//	model             git {…}                     denied: load the review skill first
//	model             load_skill {name: review}   → its instructions, "Tools now available: git"
//	model             git {…}                     runs, if the permissions let it
//
// Whether a skill is loaded is nowhere kept: [Loaded] reads it from the messages
// that the model still sees. So it survives a restart and a fork, and a
// compaction that drops the call or its result locks the skill again, unless it
// keeps the skill open, and then [Skills.Again] tells what it says once more.
//
// A skill guides; permissions and approvals enforce. What a skill's file says
// of allowed tools gives no right to anything.
//
// Skills come from code, or by [Folder] from folders with a SKILL.md in the open
// Agent Skills layout. Such files are foreign: they are read within bounds, links
// are not followed, and no description can pass for a second skill.
//
// Invariants it serves: I5 (the list of skills and the tools of all of them stand
// in every prompt, loaded or not, so that loading one changes nothing before the
// tail) and I6 (what is loaded is a pure function of the messages).
package guide
