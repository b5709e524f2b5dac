// Starts the gateway with an empty data directory, waits for /ready, requests the interface, stops the gateway with
// SIGTERM and checks the exit code. MONGO_URI, REDIS_URI and CREDS_KEY select the stores; /ready reports them.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const readyWithinMs = 30_000;
const exitWithinMs = 10_000;

const port = await freePort();
const dataDir = mkdtempSync(join(tmpdir(), 'behalf-smoke-'));
const start = performance.now();
// Starts through npm, so that signal handling is tested too: without `exec` in the script of package.json, the
// shell swallows the signal. The process group ensures that no process remains.
const gateway = spawn('npm', ['start', '--silent'], {
  cwd: root,
  detached: true,
  env: { ...process.env, HOST: '127.0.0.1', PORT: String(port), BEHALF_DATA_DIR: join(dataDir, 'data') },
  stdio: ['ignore', 'pipe', 'pipe'],
});
let output = '';
for (const stream of [gateway.stdout, gateway.stderr]) stream.on('data', (chunk) => (output += chunk));
const exited = new Promise((done) => gateway.once('exit', (code, signal) => done(code ?? signal)));

try {
  const body = await becomesReady();
  process.stdout.write(`Ready after ${Math.round(performance.now() - start)} ms: ${body}\n`);
  process.stdout.write(`Interface: ${await servesInterface()}\n`);
  const stop = performance.now();
  gateway.kill('SIGTERM');
  const code = await Promise.race([exited, delay(exitWithinMs, 'still running', { ref: false })]);
  if (code !== 0) throw new Error(`After SIGTERM: ${code}, not exit code 0 within ${exitWithinMs} ms.`);
  process.stdout.write(`Exited 0 after ${Math.round(performance.now() - stop)} ms\n`);
} catch (error) {
  // The output contains the one-time sign-in link, which is invalid after this gateway ends.
  process.stderr.write(`${error.message}\n--- output of the gateway\n${output}`);
  process.exitCode = 1;
} finally {
  try {
    process.kill(-gateway.pid, 'SIGKILL');
  } catch {
    // The whole group has ended.
  }
  rmSync(dataDir, { recursive: true, force: true });
}

async function becomesReady() {
  let last = 'no answer';
  while (performance.now() - start < readyWithinMs) {
    if (gateway.exitCode !== null) throw new Error(`The gateway ended with exit code ${gateway.exitCode}.`);
    try {
      const response = await fetch(`http://127.0.0.1:${port}/ready`);
      last = `${response.status} ${await response.text()}`;
      if (response.status === 200) return last;
    } catch {
      // The gateway does not listen yet.
    }
    await delay(20);
  }
  throw new Error(`Not ready within ${readyWithinMs} ms: ${last}`);
}

/** Requests the sign-in page and the entry script of the interface. */
async function servesInterface() {
  const page = await fetch(`http://127.0.0.1:${port}/`);
  if (page.status !== 200 || !(await page.text()).includes('action="/api/auth/login"'))
    throw new Error(`/ is not the sign-in page: ${page.status}`);
  const index = readFileSync(join(root, 'packages/web/dist/index.html'), 'utf8');
  const [script] = /\/assets\/[^"]+\.js/.exec(index) ?? ['(index.html names no script)'];
  const answer = await fetch(`http://127.0.0.1:${port}${script}`);
  const { length } = await answer.text();
  const type = answer.headers.get('content-type');
  if (answer.status !== 200 || type !== 'text/javascript; charset=utf-8' || length === 0)
    throw new Error(`${script}: ${answer.status} ${type}, ${length} characters`);
  return `${script}, ${length} characters`;
}

function freePort() {
  return new Promise((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = probe.address();
      probe.close(() => done(free));
    });
  });
}
