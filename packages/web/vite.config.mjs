import { defineConfig } from 'vite';

/** Addresses of a development server are answered by a gateway that runs beside it: `npm start`, port 3080. */
const gateway = { target: 'http://localhost:3080', changeOrigin: false };

export default defineConfig({
  resolve: { conditions: ['behalf-source', 'module', 'browser'] },
  build: {
    target: 'es2022',
    sourcemap: false,
    // The policy of the page allows files of ours and nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // What every page needs comes as one file: twenty small ones would cost a slow network twenty waits.
        codeSplitting: {
          groups: [
            {
              name: 'common',
              test: /node_modules\/(react|react-dom|scheduler|@tanstack|wouter|regexparam|use-sync-external-store)\/|web\/src\/(api|app|hooks|strings|ui)\/|contracts\/src\//,
            },
          ],
        },
      },
      onLog(level, log, pass) {
        // Marks for server components, which we have none of.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') pass(level, log);
      },
    },
  },
  define: {
    // Benchmarks build with true, and then read from the page how often a message was rendered.
    __COUNT_RENDERS__: JSON.stringify(process.env['BEHALF_COUNT_RENDERS'] === '1'),
  },
  server: { proxy: { '/api': gateway, '/oauth': gateway } },
});
