// `npm start`: build if stale, then become the gateway. The import runs in this very process, so a signal reaches the
// drain directly and the exit code is the gateway's own.
import { fileURLToPath } from 'node:url';
import { ensureBuiltOrExit } from './build.mjs';

await ensureBuiltOrExit();

const main = new URL('../api/dist/main.js', import.meta.url);
process.argv[1] = fileURLToPath(main);
await import(main.href);
