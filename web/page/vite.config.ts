import { defineConfig } from "vite";

// The page is built into ../dist, which the package web embeds. Names of assets
// carry a hash of what is in them, so that they may be cached for ever. Nothing is
// inlined: the page's policy allows neither inline scripts nor data: images.
export default defineConfig({
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
  },
  server: { proxy: { "/v1": { target: "http://127.0.0.1:8417", ws: true } } },
});
