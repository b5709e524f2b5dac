// Builds the interface (packages/web) with Vite and compresses it at the highest level. That takes half a second,
// which no start and no request spends.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { runTool } from './runTool.mjs';

const web = 'packages/web';
const sources = [
  `${web}/index.html`,
  `${web}/package.json`,
  `${web}/vite.config.mjs`,
  `${web}/public`,
  `${web}/src`,
  'packages/contracts/src',
  'package-lock.json',
];
/** Other file types are compressed already. */
const compressed = new Set(['.js', '.css', '.svg']);

/** The interface as a product of the build, below `root`. */
export function webProduct(root) {
  return {
    name: web,
    stamp: 'web-stamp.json',
    inputs: () => sources.flatMap((path) => filesBelow(root, path)),
    /** Vite without this script writes no compressed files. */
    missing: (outputs = [`${web}/dist/index.html`]) =>
      outputs.filter((path) => !existsSync(join(root, path))),
    build: () => buildWeb(root),
  };
}

function filesBelow(root, path) {
  const whole = join(root, path);
  if (!existsSync(whole)) return [];
  if (extname(path) !== '') return [path];
  return readdirSync(whole, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

/** Builds into a temporary folder, which then replaces the old one, so that no start reads an incomplete build. */
async function buildWeb(root) {
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  if (!existsSync(vite)) throw new Error('Cannot build: Vite is not installed. Run `npm ci` first.');
  const made = join(root, '.build', `web-${process.pid}`);
  const old = `${made}-old`;
  const dist = join(root, web, 'dist');
  try {
    await runTool(vite, ['build', '--outDir', made, '--emptyOutDir', '--logLevel', 'warn'], {
      cwd: join(root, web),
      // With a fixed environment, the same files always produce the same interface. A test run would otherwise
      // produce React's development build.
      env: { PATH: process.env.PATH ?? '', NODE_ENV: 'production' },
      failure: 'The build of the interface failed; the messages above say where.',
    });
    const outputs = await compress(made);
    if (existsSync(dist)) renameSync(dist, old);
    renameSync(made, dist);
    return outputs.map((path) => `${web}/dist/${path}`);
  } finally {
    for (const path of [made, old]) rmSync(path, { recursive: true, force: true });
  }
}

/** Writes the compressed files and returns all file names. */
async function compress(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  const forms = [
    ['.br', (text) => promisify(brotliCompress)(text)],
    ['.gz', (text) => promisify(gzip)(text, { level: 9 })],
  ];
  const made = files
    .filter((file) => compressed.has(extname(file)))
    .flatMap((file) =>
      forms.map(async ([suffix, squeeze]) => {
        const text = readFileSync(join(folder, file));
        writeFileSync(join(folder, file + suffix), await squeeze(text));
        return file + suffix;
      }),
    );
  return [...files, ...(await Promise.all(made))].sort();
}
