import { defineConfig } from "vite";

// Everything is relative, so that the page works under any path.
export default defineConfig({
  base: "./",
  resolve: { conditions: ["everstep-source", "module", "browser", "production"] },
  build: {
    outDir: "dist/site",
    target: "es2023",
    modulePreload: false,
    // Pictures inside of scripts would need a wider content security policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      // Some packages mark what belongs to a browser; here everything does.
      onLog: (level, log, next) => log.code !== "MODULE_LEVEL_DIRECTIVE" && next(level, log),
    },
  },
  server: {
    proxy: {
      "^/(?!src|@|node_modules|dashboard|icon).*": process.env.EVERSTEP_URL ?? "http://127.0.0.1:4610",
    },
  },
});
