import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { addAbortSignal } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBrowser } from './browser.ts';
import { createInterruptedError } from './cliError.ts';
import { commands } from './commands/commands.ts';
import type { Io } from './io.ts';
import { runCli } from './run.ts';

const { env, stdin, stdout, stderr } = process;
const interruption = new AbortController();
// Registered once, so that a second Ctrl-C ends the process.
process.once('SIGINT', () => interruption.abort());

const hasColors = (stream: NodeJS.WriteStream) => stream.isTTY && (env['NO_COLOR'] ?? '') === '';

const io: Io = {
  env,
  out: (text) => void stdout.write(text),
  err: (text) => void stderr.write(text),
  async readStdin() {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of addAbortSignal(interruption.signal, stdin)) chunks.push(chunk as Buffer);
    } catch {
      throw createInterruptedError();
    }
    return Buffer.concat(chunks).toString('utf8');
  },
  readFile: (path) => readFile(path, 'utf8'),
  isInteractive: stdin.isTTY && stderr.isTTY,
  colors: { out: hasColors(stdout), err: hasColors(stderr) },
  async prompt(question) {
    const readline = createInterface({ input: stdin, output: stderr });
    try {
      return await readline.question(question, { signal: interruption.signal });
    } catch {
      throw createInterruptedError();
    } finally {
      readline.close();
    }
  },
  openBrowser: (url) => openBrowser(url, env),
  fetch: (input, init) => fetch(input, init),
  now: () => Date.now(),
  sleep: (ms) => sleep(ms, undefined, { signal: interruption.signal }).catch(() => undefined),
  interruptSignal: interruption.signal,
};

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
process.exitCode = await runCli(process.argv.slice(2), commands, io, version);
