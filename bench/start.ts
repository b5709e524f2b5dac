import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const ROUNDS = 5;
/** Waits until garbage of the start has been collected. */
const SETTLE_MS = 5_000;

export interface StartReport {
  /** Time from `npm start` to `/ready` 200 without a build. */
  first_start_ms: number;
  /** The same with a complete build: median and all rounds. */
  built_start_ms: number;
  built_start_rounds_ms: number[];
  /** The resident memory of the gateway process after some idle seconds. */
  idle_rss_mb: number;
}

export interface StartOptions {
  progress: (line: string) => void;
  environment: NodeJS.ProcessEnv;
}

/** The duration of a start, and the memory of an idle gateway. */
export async function measureStart({ progress, environment }: StartOptions): Promise<StartReport> {
  const start = () => startMeasuredGateway(environment);
  const distFolders = [
    'api',
    'config/scripts',
    ...['contracts', 'kernel', 'settings', 'egress', 'gateway', 'stores'].map((name) => `packages/${name}`),
  ];
  for (const folder of distFolders) {
    rmSync(join(root, folder, 'dist'), { recursive: true, force: true });
    rmSync(join(root, folder, 'tsconfig.tsbuildinfo'), { force: true });
  }
  rmSync(join(root, '.build/stamp.json'), { force: true });
  const firstStart = await start();
  await firstStart.stop();
  progress(`first start, with build: ${firstStart.ms} ms`);

  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const builtGateway = await start();
    await builtGateway.stop();
    rounds.push(builtGateway.ms);
    progress(`built start: ${builtGateway.ms} ms`);
  }
  const idleGateway = await start();
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const rss = idleGateway.rssMb();
  await idleGateway.stop();
  progress(`idle: ${rss} MB`);
  const sorted = [...rounds].sort((a, b) => a - b);
  return {
    first_start_ms: firstStart.ms,
    built_start_ms: sorted[Math.floor(ROUNDS / 2)] ?? 0,
    built_start_rounds_ms: rounds,
    idle_rss_mb: rss,
  };
}

async function startMeasuredGateway(
  environment: NodeJS.ProcessEnv,
): Promise<{ ms: number; rssMb(): number; stop(): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'behalf-bench-'));
  const startedAt = Date.now();
  const child = spawn('npm', ['start', '--silent'], {
    cwd: root,
    env: { ...environment, PORT: '0', BEHALF_DATA_DIR: directory, CONFIG_PATH: undefined },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const deadline = startedAt + 60_000;
  for (;;) {
    const [, url] = /is listening on (http:\/\/\S+?)"/.exec(output) ?? [];
    if (url && (await fetch(`${url}/ready`)).ok) break;
    if (Date.now() > deadline) throw new Error(`The gateway did not start:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const ms = Date.now() - startedAt;
  return {
    ms,
    rssMb: () => Math.round(residentKb(findGatewayPid(child.pid ?? 0)) / 1024),
    async stop() {
      const exited = once(child, 'exit');
      process.kill(-(child.pid ?? 0), 'SIGTERM');
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** npm is the parent process of the gateway. */
function findGatewayPid(npmPid: number): number {
  const children = readFileSync(`/proc/${npmPid}/task/${npmPid}/children`, 'utf8').trim().split(' ');
  return Number(children[0]);
}

function residentKb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}
