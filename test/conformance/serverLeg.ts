import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { startGatewayProxy } from './gatewayProxy.ts';
import { readFirstLine } from './childOutput.ts';
import { printScores } from './report.ts';
import {
  selectServerScenarios,
  selectTaskScenarios,
  excuseKnownFailures,
  excuseAcrossEras,
  readServerResults,
  scoreChecks,
  type ScenarioResult,
  type ScenarioScore,
} from './score.ts';
import { conformanceFolder, readRequirements, repositoryRoot, runSuite } from './suite.ts';

type Era = 'legacy' | 'modern';

/** Which of the two servers is of the same era as the clients of a revision. */
const eraForRevision = (revision: string): Era => (revision >= '2026' ? 'modern' : 'legacy');

/**
 * The gateway as a server, for clients of each era with a server of the SDK of each era behind it: all four combinations.
 * The server without the gateway is judged in the same run: what it cannot do itself nobody can do in front of it.
 */
export async function runServerLeg(revisions: readonly string[]): Promise<boolean> {
  const fixtures = spawn(
    process.execPath,
    ['--import', join(repositoryRoot, 'tools/ts-loader.mjs'), join(conformanceFolder, 'fixtures/main.ts')],
    { cwd: repositoryRoot, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  try {
    const urls = JSON.parse(await readFirstLine(fixtures)) as Record<Era | 'tasks', string>;
    const gateway = await startGatewayProxy({
      legacy: createDefinition(urls.legacy),
      modern: createDefinition(urls.modern),
      tasks: createDefinition(urls.tasks),
    });
    try {
      let allPassed = true;
      for (const revision of revisions) {
        const era = eraForRevision(revision);
        const direct = await runAndScore(revision, urls[era], 'direct');
        printScores(`MCP ${revision}, the ${era} server of the SDK alone`, direct);
        const throughGateway = excuseKnownFailures(
          await runAndScore(revision, gateway.urlOf(era), 'gateway'),
          direct,
        );
        allPassed = printScores(`MCP ${revision}, the same behind the gateway`, throughGateway) && allPassed;
        const otherEra = era === 'modern' ? 'legacy' : 'modern';
        const acrossEras = excuseKnownFailures(
          await runAndScore(revision, gateway.urlOf(otherEra), `across-${otherEra}`),
          direct,
        );
        const excusedScores = excuseAcrossEras(acrossEras, otherEra);
        allPassed =
          printScores(`MCP ${revision}, the ${otherEra} server behind the gateway`, excusedScores) &&
          allPassed;
        allPassed = (await runTaskScenarios(revision, urls.tasks, gateway.urlOf('tasks'))) && allPassed;
      }
      return allPassed;
    } finally {
      await gateway.close();
    }
  } finally {
    fixtures.kill();
  }
}

/** What the suite asks of servers with tasks, where a revision has them: the server alone, then behind the gateway. */
async function runTaskScenarios(revision: string, direct: string, throughGateway: string): Promise<boolean> {
  const scenarios = selectTaskScenarios(readRequirements(revision));
  if (scenarios.length === 0) return true;
  const runEach = async (url: string, label: string) => {
    const results = new Map<string, ScenarioResult>();
    for (const { name } of scenarios) {
      const options = ['--url', url, '--scenario', name, '--spec-version', revision, '--force'];
      const outputFolder = await runSuite('server', options, `server-${revision}-${label}-${name}`);
      for (const [name, result] of readServerResults(outputFolder)) results.set(name, result);
    }
    return scoreChecks(scenarios, results);
  };
  printScores(`Tasks of ${revision}, the server alone`, await runEach(direct, 'tasks-direct'));
  return printScores(
    `Tasks of ${revision}, the same behind the gateway`,
    await runEach(throughGateway, 'tasks-gateway'),
  );
}

/** The suite lets servers ask for everything. */
function createDefinition(url: string) {
  return { type: 'streamable-http', url, relay: ['sampling', 'roots'] };
}

async function runAndScore(revision: string, url: string, name: string): Promise<ScenarioScore[]> {
  const options = ['--url', url, '--requirements', revision];
  const outputFolder = await runSuite('server', options, `server-${revision}-${name}`);
  return scoreChecks(selectServerScenarios(readRequirements(revision)), readServerResults(outputFolder));
}
