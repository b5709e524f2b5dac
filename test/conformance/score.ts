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
export interface Asked {
  readonly name: string;
  /** Counts for the suite. */
  readonly isScored: boolean;
  /** Has to pass. */
  readonly isDue: boolean;
}

/** What came of it. */
export interface Result {
  readonly checks: readonly Check[];
  /** What the client said last; null: it never came to that. */
  readonly end: { readonly refused: string | null } | null;
}

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED';
  readonly description: string;
  readonly errorMessage?: string;
}

export interface Verdict extends Asked {
  readonly passed: number;
  /** Nothing: it passed. */
  readonly wrong: readonly string[];
  /** Why it is forgiven. */
  readonly excuse?: string;
}

/** Extensions that count for us; the suite scores none. */
const extensions: ReadonlySet<string> = new Set([
  'auth/client-credentials-basic',
  'auth/client-credentials-jwt',
  'auth/enterprise-managed-authorization',
  'auth/dpop',
  'auth/dpop-nonce',
]);

/** Meant to end with our refusal: whoever goes on has not noticed. */
const refusals: ReadonlySet<string> = new Set([
  'auth/scope-retry-limit',
  'auth/resource-mismatch',
  'auth/iss-supported-missing',
  'auth/iss-wrong-issuer',
  'auth/iss-unexpected',
  'auth/iss-normalized',
  'auth/metadata-issuer-mismatch',
]);

/** Their servers answer nothing but lists: how whoever goes on ends there says nothing. */
const listsAlone: ReadonlySet<string> = new Set(['request-metadata', 'json-schema-ref-no-deref']);

export function askedOf({ client, not_scored: unscored = [] }: RequirementSet): Asked[] {
  const more = unscored.filter(({ leg }) => leg === 'client').map(({ scenario }) => scenario);
  return [
    ...client.map((name) => ({ name, isScored: true, isDue: true })),
    ...more.map((name) => ({ name, isScored: false, isDue: extensions.has(name) })),
  ];
}

/** Of a server all that is scored has to pass. What is about tasks is asked of one that has them. */
export function askedOfServer(set: RequirementSet): Asked[] {
  const more = unscoredOfServer(set).filter((name) => !isAboutTasks(name));
  return [
    ...set.server.map((name) => ({ name, isScored: true, isDue: true })),
    ...more.map((name) => ({ name, isScored: false, isDue: false })),
  ];
}

/** We pass no notifications of tasks on, and the suite has no check for them yet: it would count as passed. */
const NOTIFICATIONS = 'tasks-status-notifications';

/** An extension that counts for us as the others do. */
export function askedOfTasks(set: RequirementSet): Asked[] {
  return unscoredOfServer(set)
    .filter((name) => isAboutTasks(name) && name !== NOTIFICATIONS)
    .map((name) => ({ name, isScored: false, isDue: true }));
}

function unscoredOfServer({ not_scored: unscored = [] }: RequirementSet): string[] {
  return unscored.filter(({ leg }) => leg === 'server').map(({ scenario }) => scenario);
}

function isAboutTasks(name: string): boolean {
  return name.startsWith('tasks-');
}

/** By the suite's checks alone: of servers, whose client it is itself, they say everything. */
export function scoreChecks(asked: readonly Asked[], results: ReadonlyMap<string, Result>): Verdict[] {
  return asked.map((one) => {
    const { checks = [] } = results.get(one.name) ?? {};
    const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
    return { ...one, passed, wrong: checks.length === 0 ? ['It did not run'] : wrongChecks(checks) };
  });
}

const MOST_EXCUSES = 5;

/** Forgiven is what the server behind the gateway fails without it too, in the same run, and not often. */
export function excuse(through: readonly Verdict[], direct: readonly Verdict[]): Verdict[] {
  const failing = new Set(direct.filter(({ wrong }) => wrong.length > 0).map(({ name }) => name));
  const isExcused = ({ name, isDue, wrong }: Verdict) => isDue && wrong.length > 0 && failing.has(name);
  if (through.filter(isExcused).length > MOST_EXCUSES) return [...through];
  return through.map((one) => (isExcused(one) ? { ...one, excuse: 'fails without the gateway too' } : one));
}

/** What a server of the era before has no words for, whoever stands in front of it: these checks, and no other of the scenario. */
const beyondLegacy: ReadonlyMap<string, { readonly why: string; readonly checks: readonly string[] }> =
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
export function excuseAcross(through: readonly Verdict[], server: 'legacy' | 'modern'): Verdict[] {
  if (server === 'modern') return [...through];
  return through.map((one) => {
    const beyond = beyondLegacy.get(one.name);
    const isBeyond = (line: string) => beyond?.checks.some((id) => line.includes(` ${id}: `)) === true;
    return beyond && one.wrong.length > 0 && one.wrong.every(isBeyond) ? { ...one, excuse: beyond.why } : one;
  });
}

/** Everything that was asked: what did not run did not pass. */
export function score(asked: readonly Asked[], results: ReadonlyMap<string, Result>): Verdict[] {
  return asked.map((one) => {
    const { checks, end } = results.get(one.name) ?? { checks: [], end: null };
    const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
    return { ...one, passed, wrong: [...wrongChecks(checks), ...wrongEnd(one, end)] };
  });
}

/** A warning is a SHOULD that we did not do. */
function wrongChecks(checks: readonly Check[]): string[] {
  return checks
    .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    .map(({ id, status, description, errorMessage }) => `${status} ${id}: ${errorMessage ?? description}`);
}

/** The suite believes its servers alone; we also know whether the call that it was all about came through. */
function wrongEnd({ name, isDue }: Asked, end: Result['end']): string[] {
  if (end === null) return ['It did not end'];
  if (!isDue || listsAlone.has(name) || (end.refused !== null) === refusals.has(name)) return [];
  return [
    end.refused === null ? 'It went on where it should have refused' : `It ended early: ${end.refused}`,
  ];
}

const STAMP = /-\d{4}-\d\d-\d\dT[\d-]+Z$/;

/** By scenario, from the folders that the suite writes. */
export function readResults(dir: string): Map<string, Result> {
  const found = new Map<string, Result>();
  const files = existsSync(dir) ? readdirSync(dir, { recursive: true, encoding: 'utf8' }) : [];
  for (const file of files.filter((name) => name.endsWith('checks.json'))) {
    const folder = dirname(join(dir, file));
    const checks = JSON.parse(readFileSync(join(folder, 'checks.json'), 'utf8')) as Check[];
    const name = relative(dir, folder).replaceAll('\\', '/').replace(STAMP, '');
    found.set(name, { checks, end: readEnd(join(folder, 'stdout.txt')) });
  }
  return found;
}

/** As the suite writes them of servers. */
export function readServerResults(dir: string): Map<string, Result> {
  return new Map([...readResults(dir)].map(([name, result]) => [name.replace(/^server-/, ''), result]));
}

function readEnd(file: string): Result['end'] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Result['end'];
  } catch {
    return null;
  }
}
