import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { addAbortSignal } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBrowser } from './browser.ts';
import { stopped } from './cliError.ts';
import { commands } from './commands/commands.ts';
import type { Io } from './io.ts';
import { run } from './run.ts';

const { env, stdin, stdout, stderr } = process;
const interruption = new AbortController();
// Once: who presses it again ends the process.
process.once('SIGINT', () => interruption.abort());

const hasColours = (stream: NodeJS.WriteStream) => stream.isTTY && (env['NO_COLOR'] ?? '') === '';

const io: Io = {
  env,
  out: (text) => void stdout.write(text),
  err: (text) => void stderr.write(text),
  async readStdin() {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of addAbortSignal(interruption.signal, stdin)) chunks.push(chunk as Buffer);
    } catch {
      throw stopped();
    }
    return Buffer.concat(chunks).toString('utf8');
  },
  readFile: (path) => readFile(path, 'utf8'),
  isInteractive: stdin.isTTY && stderr.isTTY,
  colours: { out: hasColours(stdout), err: hasColours(stderr) },
  async ask(question) {
    const lines = createInterface({ input: stdin, output: stderr });
    try {
      return await lines.question(question, { signal: interruption.signal });
    } catch {
      throw stopped();
    } finally {
      lines.close();
    }
  },
  openBrowser: (url) => openBrowser(url, env),
  fetch: (input, init) => fetch(input, init),
  now: () => Date.now(),
  sleep: (ms) => sleep(ms, undefined, { signal: interruption.signal }).catch(() => undefined),
  interrupted: interruption.signal,
};

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
process.exitCode = await run(process.argv.slice(2), commands, io, version);
