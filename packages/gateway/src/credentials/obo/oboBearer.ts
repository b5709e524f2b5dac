import { scopeList, type ErrorCode } from '@behalf/contracts';
import { LightCancellation } from '@behalf/kernel';
import { NO_PROVIDER } from '@behalf/settings';
import { GatewayError } from '../../errors/gatewayError.ts';
import { principalKey, type Principal } from '../../principal/principal.ts';
import type { ServerSnapshot, UserServer } from '../../registry/server.ts';
import type { Bearer, Token } from '../../upstream/target.ts';
import { toWireToken } from '../wireToken.ts';
import type { LruMap } from '../lruMap.ts';
import { ReauthNeeded } from '../reauthNeeded.ts';
import { claimsOf, claimsText } from './claimsChallenge.ts';
import type { ExchangeJob } from './exchanger.ts';
import type { ExchangeKeys, Wanted } from './exchangeKeys.ts';
import type { ExchangeProvider } from './exchangeProvider.ts';
import { ExchangeFault } from './exchangeFault.ts';
import { explainFault } from './explainFault.ts';
import type { OboTokenParts, Purse } from './oboTokens.ts';
import type { Subject } from './subject.ts';

/** Token requests that one call may cost: the retry of an exchange and a forced one together. */
const MOST_REQUESTS = 2;

export interface OboBearerParts extends OboTokenParts {
  readonly keyOf: ExchangeKeys;
  readonly claimsAsked: LruMap<string>;
}

export interface OboBearerFor {
  readonly server: UserServer;
  readonly principal: Principal;
  readonly wanted: Wanted;
  readonly purse: Purse;
}

/**
 * One call's way to its token. Every use asks anew: whether the server is trusted, whether the token may go there,
 * whether the caller is still signed in. Only then is a kept token looked at.
 */
export function createOboBearer(parts: OboBearerParts, of: OboBearerFor): Bearer {
  const { trust, targets, subjects, exchanger, claimsAsked } = parts;
  const { server, principal, wanted, purse } = of;
  const owner = principalKey(principal);
  let presented: { readonly key: string; readonly token: string; readonly via: Subject['via'] } | undefined;
  /** A refused one and the one in its place. */
  let before: string | undefined;

  /** Of the server as it is now: who answers for it may be somebody else than when this call began. */
  function requireCurrent(): ServerSnapshot {
    const now = parts.current(server, principal.tenant);
    if (!now || targets.problemOf(now)) throw new GatewayError(refusalOf(now));
    return now;
  }

  /** That nobody is there to exchange at is the operator's to mend; nobody was forbidden anything. */
  function refusalOf(now: ServerSnapshot | undefined): ErrorCode {
    const isLacking = now !== undefined && targets.problemOf(now)?.code === NO_PROVIDER;
    return isLacking ? 'OBO_MISCONFIGURED' : 'MCP_OBO_FORBIDDEN';
  }

  function requireProvider(): ExchangeProvider {
    const provider = parts.providers().find(wanted);
    if (!provider) throw new GatewayError('OBO_MISCONFIGURED');
    return provider;
  }

  /** Of who cannot exchange any, the access token: what is missing there is told first. */
  const ownToken = () => subjects.current(principal, parts.providers().find(wanted)?.takes);

  const claimsKey = ({ hash }: Subject) => JSON.stringify([owner, server.revision, hash]);

  function claimsFor(subject: Subject): string | undefined {
    return claimsAsked.size === 0 ? undefined : claimsAsked.get(claimsKey(subject));
  }

  const proverOf = ({ binds, identity }: ExchangeProvider) =>
    binds ? parts.boundKeys(server, principal, identity.provider) : undefined;

  function keyFor(subject: Subject, provider: ExchangeProvider): string {
    const keyThumbprint = proverOf(provider)?.thumbprint;
    const claims = claimsFor(subject);
    return parts.keyOf({ server, principal, wanted, subject, provider, claims, keyThumbprint });
  }

  /** Where tokens are bound to a key, never a mere text. */
  function asPresented(accessToken: string): Token {
    return toWireToken({ accessToken, prover: proverOf(requireProvider()) });
  }

  function jobFor(subject: Subject, provider: ExchangeProvider): ExchangeJob {
    const { audience, resource } = wanted;
    return {
      about: { server, principal, scopes: wanted.scopes },
      provider,
      key: keyFor(subject, provider),
      request: {
        ...{ subject, audience, resource },
        scopes: scopeList(wanted.scopes),
        place: parts.placeOf(server),
        claims: claimsFor(subject),
        prover: proverOf(provider),
      },
      holder: {
        tenant: server.tenant,
        principal: owner,
        serverId: server.id,
        revision: server.revision,
      },
      requests: MOST_REQUESTS - purse.requests,
      // A connection that others use too may be opened with it: who leaves stops waiting elsewhere.
      signal: new LightCancellation(),
    };
  }

  /** Without I/O, or not at all. */
  function atHand(): string | undefined {
    if (trust.isTrusted(requireCurrent()) !== true) return undefined;
    const subject = ownToken();
    if (subject instanceof Promise) {
      // It is asked for again in a moment, by who waits for the answer.
      subject.catch(() => undefined);
      return undefined;
    }
    const key = keyFor(subject, requireProvider());
    const kept = exchanger.peek(key);
    if (!kept) return undefined;
    presented = { key, token: kept.token, via: subject.via };
    return kept.token;
  }

  async function exchange(how: 'obtain' | 'force'): Promise<string> {
    let subject: Subject | undefined;
    try {
      await requireTrust();
      subject = await ownToken();
      const job = jobFor(subject, requireProvider());
      if (job.requests < 1) throw new GatewayError('OBO_TEMPORARY');
      const exchanged = await exchanger[how](job);
      purse.requests += exchanged.requests;
      // While the provider was asked, who decides about this server may have lost the right, and the caller may have left.
      await requireTrust();
      await ownToken();
      presented = { key: job.key, token: exchanged.token.token, via: subject.via };
      return presented.token;
    } catch (error) {
      if (error instanceof ExchangeFault) {
        // However many requests it took: this call makes no more.
        purse.requests = MOST_REQUESTS;
        if (subject && error.kind !== 'idp_unavailable' && error.code !== 'OBO_CONSENT_REQUIRED') {
          // What a server asked for may be what the provider does not understand.
          claimsAsked.delete(claimsKey(subject));
        }
      }
      const told = explainFault(error, subject?.via ?? viaOf(principal));
      if (told instanceof ReauthNeeded) await keepClaims(told.detail.claims);
      refused(error);
      throw told;
    }
  }

  async function requireTrust(): Promise<void> {
    if (!(await trust.isTrusted(requireCurrent()))) throw new GatewayError('MCP_OBO_FORBIDDEN');
  }

  /** What no exchange came of. Once: what asks in the background, when all is over, is nobody's wish. */
  function refused(error: unknown): void {
    if (!presented && !(error instanceof ExchangeFault))
      parts.refused({ server, principal, scopes: wanted.scopes, error });
  }

  /** For the user's next sign-in. Losing them costs one more sign-in, not the answer. */
  async function keepClaims(claims: string | undefined): Promise<void> {
    const text = claims === undefined ? undefined : claimsText(claims);
    if (text !== undefined) await parts.pendingClaims.put(owner, text).catch(() => undefined);
  }

  return {
    extension: parts.providers().find(wanted)?.extension,
    token() {
      try {
        const kept = atHand();
        return kept === undefined ? exchange('obtain').then(asPresented) : asPresented(kept);
      } catch (error) {
        refused(error);
        // An Error, as explained to who calls.
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
        return Promise.reject(explainFault(error, viaOf(principal)));
      }
    },
    async renew(challenge) {
      if (!presented) return false;
      const last = presented;
      const claims = claimsOf(challenge);
      await exchanger.evict(last.key, last.token);
      if (purse.renewed) {
        // Another one was exchanged for this very call, and it is not enough either.
        if (claims === undefined) return false;
        await keepClaims(claims);
        const code = 'OBO_CONSENT_REQUIRED';
        throw new ReauthNeeded('interaction_required', { code, via: last.via, claims });
      }
      if (purse.requests >= MOST_REQUESTS) return false;
      purse.renewed = true;
      before = last.token;
      if (claims !== undefined) await ask(claims);
      // Calls that were refused together share the one that takes its place.
      const other = await exchange('obtain');
      if (other === last.token) await exchange('force');
      return true;
    },
    isRenewed: () => purse.renewed,
    shown: () => [before, presented?.token].filter((token) => token !== undefined),
  };

  async function ask(claims: string): Promise<void> {
    try {
      claimsAsked.set(claimsKey(await ownToken()), claims);
    } catch {
      // The exchange that follows says what is wrong with the caller's own token.
    }
  }
}

function viaOf({ by }: Principal): Subject['via'] {
  return by.via === 'bearer' ? 'bearer' : 'session';
}
