import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstLine } from './children.ts';
import { printVerdicts } from './report.ts';
import { askedOf, readResults, score } from './score.ts';
import { home, requirementsOf, root, runSuite } from './suite.ts';

/** All scenarios of a set are begun at once and wait for their turn. */
const TIMEOUT_MS = 600_000;

/** The gateway as a client: its upstream and OAuth code. Whether all that is due passed. */
export async function runClientLeg(revisions: readonly string[]): Promise<boolean> {
  const dir = mkdtempSync(join(tmpdir(), 'behalf-conformance-'));
  const socket = join(dir, 'driver.sock');
  const driver = startDriver(socket);
  try {
    if ((await firstLine(driver)) !== 'ready') throw new Error('The driver did not start');
    let passed = true;
    for (const revision of revisions) {
      const command = [process.execPath, join(home, 'client.mjs'), socket].map(quoted).join(' ');
      const options = ['--command', command, '--requirements', revision, '--timeout', String(TIMEOUT_MS)];
      const out = await runSuite('client', options, revision);
      const verdicts = score(askedOf(requirementsOf(revision)), readResults(out));
      passed = printVerdicts(`MCP ${revision}, client`, verdicts) && passed;
    }
    return passed;
  } finally {
    driver.kill();
    rmSync(dir, { recursive: true, force: true });
  }
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
