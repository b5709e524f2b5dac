// Compiles what a start or an operator command needs, and only when it is stale. The check reads file times and
// nothing else, and TypeScript is not even loaded when all is fresh: a built start has 2 s for everything.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const entries = ['api', 'config/scripts'];
const stampFile = join(root, '.build', 'stamp.json');

/** Builds if a source, a tsconfig or the lock changed since the last good build. Throws when the build fails. */
export async function ensureBuilt() {
  if (isFresh(survey())) return;
  mkdirSync(join(root, '.build'), { recursive: true });
  await withLock(join(root, '.build', 'lock'), async () => {
    // Another start may have built while this one waited. The survey is taken before compiling, so a file saved
    // during the build makes the next check stale instead of being missed.
    const found = survey();
    if (isFresh(found)) return;
    const contents = hashContents(found.inputs);
    if (found.missing.length === 0 && readStamp()?.contents === contents) {
      writeStamp(found.times, contents);
      return;
    }
    await compile(found);
    writeStamp(found.times, contents);
  });
}

/** The projects reachable from the entries, their inputs, and outputs that should exist and do not. */
function survey() {
  const projects = new Set();
  const visit = (dir) => {
    if (projects.has(dir)) return;
    projects.add(dir);
    const config = JSON.parse(readFileSync(join(root, dir, 'tsconfig.json'), 'utf8'));
    for (const { path } of config.references ?? []) visit(relative(root, resolve(root, dir, path)));
  };
  entries.forEach(visit);

  const inputs = ['package-lock.json', 'tsconfig.base.json'];
  const missing = [];
  for (const dir of projects) {
    inputs.push(`${dir}/tsconfig.json`, `${dir}/package.json`);
    const src = join(root, dir, 'src');
    if (!existsSync(src)) continue;
    for (const name of readdirSync(src, { recursive: true }).sort()) {
      if (!/\.tsx?$/.test(name) || name.endsWith('.test.ts')) continue;
      inputs.push(`${dir}/src/${name}`);
      if (name.endsWith('.d.ts')) continue;
      const output = `${dir}/dist/${name.replace(/\.tsx?$/, '.js')}`;
      if (!existsSync(join(root, output))) missing.push(dir);
    }
  }
  const hash = createHash('sha256');
  for (const input of inputs) {
    const { size, mtimeMs } = statSync(join(root, input));
    hash.update(`${input}\0${size}\0${mtimeMs}\n`);
  }
  return { inputs, missing, times: hash.digest('hex') };
}

function isFresh(found) {
  return found.missing.length === 0 && readStamp()?.times === found.times;
}

/** A checkout changes file times without changing a byte; the second look is at the contents. */
function hashContents(inputs) {
  const hash = createHash('sha256');
  for (const input of inputs)
    hash
      .update(`${input}\0`)
      .update(readFileSync(join(root, input)))
      .update('\0');
  return hash.digest('hex');
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(stampFile, 'utf8'));
  } catch {
    return undefined;
  }
}

function writeStamp(times, contents) {
  writeFileSync(stampFile, JSON.stringify({ times, contents }));
}

async function compile({ missing }) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  if (!existsSync(tsc)) throw new Error('Cannot build: TypeScript is not installed. Run `npm ci` first.');
  // The compiler believes its .tsbuildinfo and does not look whether the outputs are still there.
  for (const dir of new Set(missing)) rmSync(join(root, dir, 'tsconfig.tsbuildinfo'), { force: true });
  const start = process.hrtime.bigint();
  const child = spawn(process.execPath, [tsc, '-b', ...entries], { cwd: root, stdio: ['ignore', 2, 2] });
  const stop = () => child.kill();
  process.once('exit', stop);
  const code = await new Promise((done, fail) => child.once('error', fail).once('exit', done));
  process.removeListener('exit', stop);
  if (code !== 0) throw new Error('The build failed; the messages above say where.');
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  process.stderr.write(`Built ${entries.join(' and ')} in ${seconds.toFixed(1)} s\n`);
}

/** The last word of a command that could not build: one line, and an exit code. */
export async function ensureBuiltOrExit() {
  try {
    await ensureBuilt();
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await ensureBuiltOrExit();
