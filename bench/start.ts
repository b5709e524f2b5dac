import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const ROUNDS = 5;
/** What a start leaves behind is collected by then. */
const SETTLE_MS = 5_000;

export interface StartReport {
  /** `npm start` to `/ready` 200 with nothing built. */
  first_start_ms: number;
  /** The same with everything built: median and all rounds. */
  built_start_ms: number;
  built_start_rounds_ms: number[];
  /** Resident memory of the gateway process after some quiet seconds. */
  idle_rss_mb: number;
}

export interface BenchParts {
  progress: (line: string) => void;
  environment: NodeJS.ProcessEnv;
}

/** How long a newcomer waits, and what an idle gateway costs. */
export async function measureStart({ progress, environment }: BenchParts): Promise<StartReport> {
  const start = () => startGateway(environment);
  const dist = [
    'api',
    'config/scripts',
    ...['contracts', 'kernel', 'settings', 'egress', 'gateway', 'stores'].map((name) => `packages/${name}`),
  ];
  for (const folder of dist) {
    rmSync(join(root, folder, 'dist'), { recursive: true, force: true });
    rmSync(join(root, folder, 'tsconfig.tsbuildinfo'), { force: true });
  }
  rmSync(join(root, '.build/stamp.json'), { force: true });
  const first = await start();
  await first.stop();
  progress(`first start, with build: ${first.ms} ms`);

  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const built = await start();
    await built.stop();
    rounds.push(built.ms);
    progress(`built start: ${built.ms} ms`);
  }
  const idle = await start();
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const rss = idle.rssMb();
  await idle.stop();
  progress(`idle: ${rss} MB`);
  const sorted = [...rounds].sort((a, b) => a - b);
  return {
    first_start_ms: first.ms,
    built_start_ms: sorted[Math.floor(ROUNDS / 2)] ?? 0,
    built_start_rounds_ms: rounds,
    idle_rss_mb: rss,
  };
}

async function startGateway(
  environment: NodeJS.ProcessEnv,
): Promise<{ ms: number; rssMb(): number; stop(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'behalf-bench-'));
  const begun = Date.now();
  const child = spawn('npm', ['start', '--silent'], {
    cwd: root,
    env: { ...environment, PORT: '0', BEHALF_DATA_DIR: dir, CONFIG_PATH: undefined },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const end = begun + 60_000;
  for (;;) {
    const [, url] = /is listening on (http:\/\/\S+?)"/.exec(output) ?? [];
    if (url && (await fetch(`${url}/ready`)).ok) break;
    if (Date.now() > end) throw new Error(`The gateway did not start:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const ms = Date.now() - begun;
  return {
    ms,
    rssMb: () => Math.round(residentKb(gatewayOf(child.pid ?? 0)) / 1024),
    async stop() {
      const ended = once(child, 'exit');
      process.kill(-(child.pid ?? 0), 'SIGTERM');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** npm is the parent; the gateway is what it runs. */
function gatewayOf(npm: number): number {
  const children = readFileSync(`/proc/${npm}/task/${npm}/children`, 'utf8').trim().split(' ');
  return Number(children[0]);
}

function residentKb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}
