// `node tools/script.mjs NAME args...`: builds if stale, then runs config/scripts/src/NAME.ts in this process.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ensureBuiltOrExit } from './build.mjs';

const [name, ...args] = process.argv.slice(2);
if (!name || !/^[a-zA-Z]+$/.test(name)) {
  process.stderr.write(
    'Usage: node tools/script.mjs NAME [arguments]; NAME is a file of config/scripts/src.\n',
  );
  process.exit(64);
}
const source = new URL(`../config/scripts/src/${name}.ts`, import.meta.url);
if (!existsSync(source)) {
  process.stderr.write(`Unknown script "${name}": it is not in config/scripts/src.\n`);
  process.exit(64);
}

await ensureBuiltOrExit();

const script = new URL(`../config/scripts/dist/${name}.js`, import.meta.url);
process.argv = [process.execPath, fileURLToPath(script), ...args];
await import(script.href);
