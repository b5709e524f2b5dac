import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** A requirement set as the suite publishes it. */
export interface RequirementSet {
  readonly client: readonly string[];
  readonly server: readonly string[];
  /** Run and reported: extensions, and what is too new to be required. */
  readonly not_scored?: readonly { readonly scenario: string; readonly leg: string }[];
}

/** One scenario that a set asks of a client. */
export interface RequiredScenario {
  readonly name: string;
  /** Counts for the suite. */
  readonly isScored: boolean;
  /** Has to pass. */
  readonly mustPass: boolean;
}

/** What came of it. */
export interface ScenarioResult {
  readonly checks: readonly Check[];
  /** What the client said last; null: it never came to that. */
  readonly clientResult: { readonly refused: string | null } | null;
}

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED';
  readonly description: string;
  readonly errorMessage?: string;
}

export interface ScenarioScore extends RequiredScenario {
  readonly passed: number;
  /** Nothing: it passed. */
  readonly failures: readonly string[];
  /** Why it is forgiven. */
  readonly excuse?: string;
}

/** Extensions that count for us; the suite scores none. */
const requiredExtensions: ReadonlySet<string> = new Set([
  'auth/client-credentials-basic',
  'auth/client-credentials-jwt',
  'auth/enterprise-managed-authorization',
  'auth/dpop',
  'auth/dpop-nonce',
]);

/** Meant to end with our refusal: whoever goes on has not noticed. */
const expectedRefusals: ReadonlySet<string> = new Set([
  'auth/scope-retry-limit',
  'auth/resource-mismatch',
  'auth/iss-supported-missing',
  'auth/iss-wrong-issuer',
  'auth/iss-unexpected',
  'auth/iss-normalized',
  'auth/metadata-issuer-mismatch',
]);

/** Their servers answer nothing but lists: how whoever goes on ends there says nothing. */
const listOnlyScenarios: ReadonlySet<string> = new Set(['request-metadata', 'json-schema-ref-no-deref']);

export function clientScenarios({ client, not_scored: unscored = [] }: RequirementSet): RequiredScenario[] {
  const unscoredNames = unscored.filter(({ leg }) => leg === 'client').map(({ scenario }) => scenario);
  return [
    ...client.map((name) => ({ name, isScored: true, mustPass: true })),
    ...unscoredNames.map((name) => ({ name, isScored: false, mustPass: requiredExtensions.has(name) })),
  ];
}

/** Of a server all that is scored has to pass. What is about tasks is asked of one that has them. */
export function selectServerScenarios(set: RequirementSet): RequiredScenario[] {
  const unscoredNames = unscoredServerScenarios(set).filter((name) => !isAboutTasks(name));
  return [
    ...set.server.map((name) => ({ name, isScored: true, mustPass: true })),
    ...unscoredNames.map((name) => ({ name, isScored: false, mustPass: false })),
  ];
}

/** We pass no notifications of tasks on, and the suite has no check for them yet: it would count as passed. */
const TASK_NOTIFICATIONS = 'tasks-status-notifications';

/** An extension that counts for us as the others do. */
export function selectTaskScenarios(set: RequirementSet): RequiredScenario[] {
  return unscoredServerScenarios(set)
    .filter((name) => isAboutTasks(name) && name !== TASK_NOTIFICATIONS)
    .map((name) => ({ name, isScored: false, mustPass: true }));
}

function unscoredServerScenarios({ not_scored: unscored = [] }: RequirementSet): string[] {
  return unscored.filter(({ leg }) => leg === 'server').map(({ scenario }) => scenario);
}

function isAboutTasks(name: string): boolean {
  return name.startsWith('tasks-');
}

/** By the suite's checks alone: of servers, whose client it is itself, they say everything. */
export function scoreChecks(
  scenarios: readonly RequiredScenario[],
  results: ReadonlyMap<string, ScenarioResult>,
): ScenarioScore[] {
  return scenarios.map((scenario) => {
    const { checks = [] } = results.get(scenario.name) ?? {};
    const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
    return {
      ...scenario,
      passed,
      failures: checks.length === 0 ? ['It did not run'] : listFailedChecks(checks),
    };
  });
}

const MAX_EXCUSES = 5;

/** Forgiven is what the server behind the gateway fails without it too, in the same run, and not often. */
export function excuseKnownFailures(
  gatewayScores: readonly ScenarioScore[],
  directScores: readonly ScenarioScore[],
): ScenarioScore[] {
  const failingNames = new Set(
    directScores.filter(({ failures }) => failures.length > 0).map(({ name }) => name),
  );
  const isExcused = ({ name, mustPass, failures }: ScenarioScore) =>
    mustPass && failures.length > 0 && failingNames.has(name);
  if (gatewayScores.filter(isExcused).length > MAX_EXCUSES) return [...gatewayScores];
  return gatewayScores.map((scenario) =>
    isExcused(scenario) ? { ...scenario, excuse: 'fails without the gateway too' } : scenario,
  );
}

/** What a server of the era before has no words for, whoever stands in front of it: these checks, and no other of the scenario. */
const legacyLimitations: ReadonlyMap<string, { readonly why: string; readonly checks: readonly string[] }> =
  new Map([
    [
      'server-stateless',
      {
        why: 'a legacy server cannot refuse with -32021: it learns that nobody can be asked when it asks',
        checks: ['sep-2575-server-rejects-undeclared-capability', 'sep-2575-missing-capability-http-400'],
      },
    ],
    [
      'input-required-result-basic-elicitation',
      {
        why: 'a legacy question has no key of the server’s choice',
        checks: ['sep-2322-elicitation-incomplete'],
      },
    ],
    [
      'input-required-result-ignore-extra-params',
      {
        why: 'a legacy call cannot be answered before it has asked',
        checks: ['sep-2322-ignore-unexpected-params'],
      },
    ],
  ]);

/** Forgiven is what the era of the server behind the gateway has no words for. */
export function excuseAcrossEras(
  gatewayScores: readonly ScenarioScore[],
  server: 'legacy' | 'modern',
): ScenarioScore[] {
  if (server === 'modern') return [...gatewayScores];
  return gatewayScores.map((scenario) => {
    const limitation = legacyLimitations.get(scenario.name);
    const isLegacyLimitation = (line: string) =>
      limitation?.checks.some((id) => line.includes(` ${id}: `)) === true;
    return limitation && scenario.failures.length > 0 && scenario.failures.every(isLegacyLimitation)
      ? { ...scenario, excuse: limitation.why }
      : scenario;
  });
}

/** Everything that was asked: what did not run did not pass. */
export function score(
  scenarios: readonly RequiredScenario[],
  results: ReadonlyMap<string, ScenarioResult>,
): ScenarioScore[] {
  return scenarios.map((scenario) => {
    const { checks, clientResult } = results.get(scenario.name) ?? { checks: [], clientResult: null };
    const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
    return {
      ...scenario,
      passed,
      failures: [...listFailedChecks(checks), ...checkClientResult(scenario, clientResult)],
    };
  });
}

/** A warning is a SHOULD that we did not do. */
function listFailedChecks(checks: readonly Check[]): string[] {
  return checks
    .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    .map(({ id, status, description, errorMessage }) => `${status} ${id}: ${errorMessage ?? description}`);
}

/** The suite believes its servers alone; we also know whether the call that it was all about came through. */
function checkClientResult(
  { name, mustPass }: RequiredScenario,
  clientResult: ScenarioResult['clientResult'],
): string[] {
  if (clientResult === null) return ['It did not end'];
  if (
    !mustPass ||
    listOnlyScenarios.has(name) ||
    (clientResult.refused !== null) === expectedRefusals.has(name)
  )
    return [];
  return [
    clientResult.refused === null
      ? 'It went on where it should have refused'
      : `It ended early: ${clientResult.refused}`,
  ];
}

const TIMESTAMP_SUFFIX = /-\d{4}-\d\d-\d\dT[\d-]+Z$/;

/** By scenario, from the folders that the suite writes. */
export function readResults(directory: string): Map<string, ScenarioResult> {
  const results = new Map<string, ScenarioResult>();
  const files = existsSync(directory) ? readdirSync(directory, { recursive: true, encoding: 'utf8' }) : [];
  for (const file of files.filter((name) => name.endsWith('checks.json'))) {
    const folder = dirname(join(directory, file));
    const checks = JSON.parse(readFileSync(join(folder, 'checks.json'), 'utf8')) as Check[];
    const name = relative(directory, folder).replaceAll('\\', '/').replace(TIMESTAMP_SUFFIX, '');
    results.set(name, { checks, clientResult: readClientResult(join(folder, 'stdout.txt')) });
  }
  return results;
}

/** As the suite writes them of servers. */
export function readServerResults(directory: string): Map<string, ScenarioResult> {
  return new Map([...readResults(directory)].map(([name, result]) => [name.replace(/^server-/, ''), result]));
}

function readClientResult(file: string): ScenarioResult['clientResult'] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ScenarioResult['clientResult'];
  } catch {
    return null;
  }
}
