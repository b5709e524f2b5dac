import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFirstLine } from './childOutput.ts';
import { printScores } from './report.ts';
import { clientScenarios, readResults, score, scoreChecks, type ScenarioScore } from './score.ts';
import { conformanceFolder, readRequirements, repositoryRoot, runSuite } from './suite.ts';

/** All scenarios of a set are begun at once and wait for their turn. */
const TIMEOUT_MS = 600_000;

/** The gateway as a client: its upstream and OAuth code, and the SDK's own client beside it. Whether all that is due of us passed. */
export async function runClientLeg(revisions: readonly string[]): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), 'behalf-conformance-'));
  const socketPath = join(directory, 'driver.sock');
  const driver = startDriver(socketPath);
  try {
    if ((await readFirstLine(driver)) !== 'ready') throw new Error('The driver did not start');
    let hasPassed = true;
    for (const revision of revisions) {
      printScores(`MCP ${revision}, the client of the SDK`, await runAndScore('sdk', revision, socketPath));
      const scores = await runAndScore('gateway', revision, socketPath);
      hasPassed = printScores(`MCP ${revision}, the gateway as a client`, scores) && hasPassed;
    }
    return hasPassed;
  } finally {
    driver.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function runAndScore(
  client: 'gateway' | 'sdk',
  revision: string,
  socketPath: string,
): Promise<ScenarioScore[]> {
  const command = [process.execPath, join(conformanceFolder, 'client.mjs'), socketPath, client]
    .map(quoteForShell)
    .join(' ');
  const options = ['--command', command, '--requirements', revision, '--timeout', String(TIMEOUT_MS)];
  const outputFolder = await runSuite('client', options, `client-${revision}-${client}`);
  const [scenarios, results] = [clientScenarios(readRequirements(revision)), readResults(outputFolder)];
  // Of the SDK by what the suite says alone: where it should end is not ours to know.
  return client === 'sdk' ? scoreChecks(scenarios, results) : score(scenarios, results);
}

/** Ends with its standard input, however we end. */
function startDriver(socketPath: string): ChildProcess {
  const loader = ['--import', join(repositoryRoot, 'tools/ts-loader.mjs')];
  return spawn(process.execPath, [...loader, join(conformanceFolder, 'driver.ts'), socketPath], {
    cwd: repositoryRoot,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

/** For the shell in which the suite starts its client. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
