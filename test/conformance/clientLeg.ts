import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstLine } from './children.ts';
import { printVerdicts } from './report.ts';
import { askedOf, readResults, score, scoreChecks, type Verdict } from './score.ts';
import { home, requirementsOf, root, runSuite } from './suite.ts';

/** All scenarios of a set are begun at once and wait for their turn. */
const TIMEOUT_MS = 600_000;

/** The gateway as a client: its upstream and OAuth code, and the SDK's own client beside it. Whether all that is due of us passed. */
export async function runClientLeg(revisions: readonly string[]): Promise<boolean> {
  const dir = mkdtempSync(join(tmpdir(), 'behalf-conformance-'));
  const socket = join(dir, 'driver.sock');
  const driver = startDriver(socket);
  try {
    if ((await firstLine(driver)) !== 'ready') throw new Error('The driver did not start');
    let passed = true;
    for (const revision of revisions) {
      printVerdicts(`MCP ${revision}, the client of the SDK`, await judge('sdk', revision, socket));
      const verdicts = await judge('gateway', revision, socket);
      passed = printVerdicts(`MCP ${revision}, the gateway as a client`, verdicts) && passed;
    }
    return passed;
  } finally {
    driver.kill();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function judge(who: 'gateway' | 'sdk', revision: string, socket: string): Promise<Verdict[]> {
  const command = [process.execPath, join(home, 'client.mjs'), socket, who].map(quoted).join(' ');
  const options = ['--command', command, '--requirements', revision, '--timeout', String(TIMEOUT_MS)];
  const out = await runSuite('client', options, `client-${revision}-${who}`);
  const [asked, results] = [askedOf(requirementsOf(revision)), readResults(out)];
  // Of the SDK by what the suite says alone: where it should end is not ours to know.
  return who === 'sdk' ? scoreChecks(asked, results) : score(asked, results);
}

/** Ends with its standard input, however we end. */
function startDriver(socket: string): ChildProcess {
  const loader = ['--import', join(root, 'tools/ts-loader.mjs')];
  return spawn(process.execPath, [...loader, join(home, 'driver.ts'), socket], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

/** For the shell in which the suite starts its client. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
