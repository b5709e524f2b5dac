import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { startBehindGateway } from './behindGateway.ts';
import { firstLine } from './children.ts';
import { printVerdicts } from './report.ts';
import {
  askedOfServer,
  askedOfTasks,
  excuse,
  excuseAcross,
  readServerResults,
  scoreChecks,
  type Result,
  type Verdict,
} from './score.ts';
import { home, requirementsOf, root, runSuite } from './suite.ts';

type Era = 'legacy' | 'modern';

/** Which of the two servers is of the same era as the clients of a revision. */
const eraOf = (revision: string): Era => (revision >= '2026' ? 'modern' : 'legacy');

/**
 * The gateway as a server, for clients of each era with a server of the SDK of each era behind it: all four combinations.
 * The server without the gateway is judged in the same run: what it cannot do itself nobody can do in front of it.
 */
export async function runServerLeg(revisions: readonly string[]): Promise<boolean> {
  const fixtures = spawn(
    process.execPath,
    ['--import', join(root, 'tools/ts-loader.mjs'), join(home, 'fixtures/main.ts')],
    { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  try {
    const urls = JSON.parse(await firstLine(fixtures)) as Record<Era | 'tasks', string>;
    const gateway = await startBehindGateway({
      legacy: definition(urls.legacy),
      modern: definition(urls.modern),
      tasks: definition(urls.tasks),
    });
    try {
      let passed = true;
      for (const revision of revisions) {
        const era = eraOf(revision);
        const direct = await judge(revision, urls[era], 'direct');
        printVerdicts(`MCP ${revision}, the ${era} server of the SDK alone`, direct);
        const through = excuse(await judge(revision, gateway.urlOf(era), 'gateway'), direct);
        passed = printVerdicts(`MCP ${revision}, the same behind the gateway`, through) && passed;
        const other = era === 'modern' ? 'legacy' : 'modern';
        const across = excuse(await judge(revision, gateway.urlOf(other), `across-${other}`), direct);
        const crossed = excuseAcross(across, other);
        passed = printVerdicts(`MCP ${revision}, the ${other} server behind the gateway`, crossed) && passed;
        passed = (await tasksOf(revision, urls.tasks, gateway.urlOf('tasks'))) && passed;
      }
      return passed;
    } finally {
      await gateway.close();
    }
  } finally {
    fixtures.kill();
  }
}

/** What the suite asks of servers with tasks, where a revision has them: the server alone, then behind the gateway. */
async function tasksOf(revision: string, direct: string, through: string): Promise<boolean> {
  const asked = askedOfTasks(requirementsOf(revision));
  if (asked.length === 0) return true;
  const judgeAll = async (url: string, where: string) => {
    const results = new Map<string, Result>();
    for (const { name } of asked) {
      const options = ['--url', url, '--scenario', name, '--spec-version', revision, '--force'];
      const out = await runSuite('server', options, `server-${revision}-${where}-${name}`);
      for (const [found, result] of readServerResults(out)) results.set(found, result);
    }
    return scoreChecks(asked, results);
  };
  printVerdicts(`Tasks of ${revision}, the server alone`, await judgeAll(direct, 'tasks-direct'));
  return printVerdicts(
    `Tasks of ${revision}, the same behind the gateway`,
    await judgeAll(through, 'tasks-gateway'),
  );
}

/** The suite lets servers ask for everything. */
function definition(url: string) {
  return { type: 'streamable-http', url, relay: ['sampling', 'roots'] };
}

async function judge(revision: string, url: string, name: string): Promise<Verdict[]> {
  const options = ['--url', url, '--requirements', revision];
  const out = await runSuite('server', options, `server-${revision}-${name}`);
  return scoreChecks(askedOfServer(requirementsOf(revision)), readServerResults(out));
}
