import { createSingleFlight, within, type Clock } from '@behalf/kernel';
import type { Cache } from '../../ports/index.ts';
import { couldSignIn } from '../../registry/couldSignIn.ts';
import { usesOwnGrant } from '../../registry/scope.ts';
import type { ServerSnapshot } from '../../registry/server.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { createRecent } from '../recent.ts';
import { SignInImpossible } from './signInProblem.ts';
import { commonTarget, type SignInTarget } from './signInTarget.ts';
import { leavesIssuerOpen, writtenPlaces } from './writtenPlaces.ts';

const FRESH_MS = 60 * 60 * 1000;
/** After a failure it is asked again no sooner. */
const RETRY_MS = 60 * 1000;
const MOST_REMEMBERED = 10_000;
const REMEMBERED_MS = 30 * 24 * 60 * 60 * 1000;
/** Whoever waits for this has a user waiting. */
const PATIENCE_MS = 6_000;

/** Where people sign in to this gateway, and who exchanges their tokens. */
export interface IdentityIssuers {
  /** Those whose endpoints only their metadata tells. */
  list(): readonly string[];
  /** Rejects while nobody can say. */
  endpointsOf(issuer: string): Promise<readonly string[]>;
}

export interface OperatorIssuerParts {
  /** Every server of the file, as the file has it: what an administrator lays over one does not end its protection. */
  readonly servers: () => readonly ServerSnapshot[];
  /** Which authorization server it uses, when it is asked. */
  readonly issuersOf: (target: SignInTarget) => Promise<readonly string[]>;
  readonly identity: IdentityIssuers;
  /** For all processes, and over restarts: what somebody said while they answered. */
  readonly cache: Cache;
  readonly clock: Clock;
}

export interface Guarded {
  readonly urls: readonly string[];
  /** False: somebody who was asked never answered, and what they would add is not known. */
  readonly isComplete: boolean;
}

export interface OperatorIssuers {
  all(): Promise<Guarded>;
  /** Without asking anybody but the cache. */
  known(): Promise<Guarded>;
}

/** Somebody who can say where an authorization server of the operator's is. */
interface Source {
  readonly key: string;
  readonly ask: () => Promise<readonly string[]>;
}

interface Known {
  /** Null: never answered. */
  readonly urls: readonly string[] | null;
  readonly until: number;
}

/**
 * The authorization servers that the operator's own servers and sign-ins use: what is written down, and what those say when they
 * are asked. Who is away keeps the answer that they gave last. Who never answered makes the list incomplete, and it is for the rules
 * to say what may be done meanwhile.
 */
export function createOperatorIssuers(parts: OperatorIssuerParts): OperatorIssuers {
  const { servers, issuersOf, identity, cache, clock } = parts;
  const flights = createSingleFlight<readonly string[] | null>();
  const known = createRecent<Known>(MOST_REMEMBERED);

  async function lastAnswer(key: string): Promise<readonly string[] | null> {
    try {
      return JSON.parse((await cache.get(key)) ?? 'null') as string[] | null;
    } catch {
      return null;
    }
  }

  async function remembered(key: string): Promise<readonly string[] | null> {
    const found = known.get(key);
    if (found) return found.urls ?? (clock.now() < found.until ? null : lastAnswer(key));
    const urls = await lastAnswer(key);
    // Over at once: it counts for who asks nobody, and whoever may ask does.
    known.set(key, { urls, until: urls ? 0 : clock.now() + RETRY_MS });
    return urls;
  }

  async function ask({ key, ask: answer }: Source): Promise<readonly string[] | null> {
    try {
      const urls = await within(clock, PATIENCE_MS, answer(), () => {
        throw new Error('no answer in time');
      });
      known.set(key, { urls, until: clock.now() + FRESH_MS });
      await cache.set(key, JSON.stringify(urls), REMEMBERED_MS).catch(() => undefined);
      return urls;
    } catch (error) {
      const urls = known.get(key)?.urls ?? (await lastAnswer(key)) ?? (isAnswer(error) ? [] : null);
      known.set(key, { urls, until: clock.now() + RETRY_MS });
      return urls;
    }
  }

  async function answerOf(source: Source): Promise<readonly string[] | null> {
    const found = known.get(source.key);
    if (found && clock.now() < found.until) return found.urls;
    return flights.run([source.key], () => ask(source), { detached: true });
  }

  function sources(): Source[] {
    const asked = servers().flatMap((server): Source[] => {
      if (!couldSignIn(server) && !usesOwnGrant(server.settings)) return [];
      // An address that depends on a user's value is nobody's in particular.
      const target = leavesIssuerOpen(server) ? commonTarget(server) : undefined;
      return target ? [{ key: serverKey(server), ask: () => issuersOf(target) }] : [];
    });
    const providers = identity.list().map((issuer) => ({
      key: JSON.stringify(['identity', issuer]),
      ask: () => identity.endpointsOf(issuer),
    }));
    return [...asked, ...providers];
  }

  async function gathered(find: (source: Source) => Promise<readonly string[] | null>): Promise<Guarded> {
    const answers = await Promise.all(sources().map(find));
    return {
      urls: [...servers().flatMap(writtenPlaces), ...answers.flatMap((urls) => urls ?? [])],
      isComplete: answers.every((urls) => urls !== null),
    };
  }

  return {
    all: () => gathered(answerOf),
    known: () => gathered(({ key }) => remembered(key)),
  };
}

/** Nobody can sign in there, or the door out is closed: that is known, and no outage. */
function isAnswer(error: unknown): boolean {
  if (error instanceof SignInImpossible) return true;
  return error instanceof GatewayError && error.code === 'MCP_DOMAIN_NOT_ALLOWED';
}

function serverKey({ id, revision }: ServerSnapshot): string {
  return JSON.stringify([id, revision]);
}
