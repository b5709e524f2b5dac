import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A real process that does nothing but open a SQLite store and close it again. */
export interface OpeningProcess {
  /** What it said so far: `opening`, then `opened` or an error. */
  output(): string;
  /** The exit code, null while it runs. */
  code(): number | null;
  kill(): Promise<void>;
}

const openOnceLoader = fileURLToPath(new URL('../../../../tools/ts-loader.mjs', import.meta.url));
const openOnceWorker = fileURLToPath(new URL('./openOnce.ts', import.meta.url));

export function startOpeningProcess(file: string): OpeningProcess {
  const child = spawn(process.execPath, ['--no-warnings', '--import', openOnceLoader, openOnceWorker, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close');
  return {
    output: () => output,
    code: () => child.exitCode,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
