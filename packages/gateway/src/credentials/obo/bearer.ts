import { type ErrorCode, scopeList } from '@behalf/contracts';
import { LightCancellation } from '@behalf/kernel';
import { NO_PROVIDER } from '@behalf/settings';
import type { OboTargets } from '../../access/oboTargets.ts';
import type { OboTrust } from '../../access/oboTrust.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { type Principal, principalKey } from '../../principal/principal.ts';
import type { ServerSnapshot, UserServer } from '../../servers/definition.ts';
import type { Bearer, WireToken } from '../../upstream/target.ts';
import { type LruMap, createLruMap } from '../lruMap.ts';
import { normalizeClaims, readChallengeClaims } from '../oauth/claims.ts';
import { toWireToken } from '../oauth/dpop.ts';
import { ReauthNeeded } from '../signInRequired.ts';
import { ExchangeFault, type ExchangeProvider, type ExchangeResource } from './exchangeProvider.ts';
import type { ExchangeContext, ExchangeJob, Exchanger } from './exchanger.ts';
import { type BoundKeys, type ComputeExchangeKey, type OboOptions, createExchangeKeyCache } from './key.ts';
import type { ExchangeProviders } from './providers/exchangeProviders.ts';
import { type Subject, type SubjectSource, SubjectUnavailable } from './subject.ts';

const MAX_REQUESTED_CLAIMS = 10_000;

/** What one call has cost so far: a listing that came before it is paid from the same. */
export interface TokenRequestBudget {
  /** Token requests. */
  requests: number;
  /** Whether a token was exchanged anew because the server refused one. */
  isRenewed: boolean;
}

export function createTokenRequestBudget(): TokenRequestBudget {
  return { requests: 0, isRenewed: false };
}

/** A wish for a token that nobody was asked for. */
export interface RefusedExchange extends ExchangeContext {
  readonly error: unknown;
}

/** Without any of these no token could be obtained: each is required. */
export interface OboTokenParts {
  /** The server as it is defined now for this tenant; undefined when it is gone, or is another one by now. */
  readonly getCurrentServer: (server: UserServer, tenant: string) => ServerSnapshot | undefined;
  /** Whether who decides where the server leads may decide about users' tokens. Asked at every use. */
  readonly trust: Pick<OboTrust, 'isTrusted'>;
  /** Whether these scopes may go to that address. */
  readonly targets: Pick<OboTargets, 'findProblem'>;
  readonly subjects: Pick<SubjectSource, 'current'>;
  readonly providers: () => Pick<ExchangeProviders, 'find'>;
  /** The keys that tokens are bound to, where a provider binds them. */
  readonly boundKeys: BoundKeys;
  /** A server as an exchange for it sees it. */
  readonly resourceOf: (server: UserServer) => ExchangeResource;
  readonly exchanger: Pick<Exchanger, 'peek' | 'obtain' | 'force' | 'evict'>;
  /** Kept for the user's next sign-in. */
  readonly pendingClaims: { put(principal: string, claims: string): Promise<void> };
  /** Told of who got none before a provider was asked. */
  readonly onRefused: (refusal: RefusedExchange) => void;
}

/** Tokens that users' own tokens are exchanged for. */
export interface OboTokens {
  /** This caller's for a server, for as long as one call lasts. */
  bearerFor(
    server: UserServer,
    principal: Principal,
    options: OboOptions,
    budget: TokenRequestBudget,
  ): Bearer;
}

export function createOboTokens(parts: OboTokenParts): OboTokens {
  const keyOf = createExchangeKeyCache();
  /** What a server asked to be proven, for later calls of the same sign-in. */
  const requestedClaims = createLruMap<string>(MAX_REQUESTED_CLAIMS);
  const bearerParts = { ...parts, keyOf, requestedClaims };
  return {
    bearerFor: (server, principal, options, budget) =>
      createOboBearer(bearerParts, { server, principal, options, budget }),
  };
}

/** Token requests that one call may cost: the retry of an exchange and a forced one together. */
const MAX_TOKEN_REQUESTS = 2;

interface OboBearerParts extends OboTokenParts {
  readonly keyOf: ComputeExchangeKey;
  readonly requestedClaims: LruMap<string>;
}

interface OboBearerRequest {
  readonly server: UserServer;
  readonly principal: Principal;
  readonly options: OboOptions;
  readonly budget: TokenRequestBudget;
}

/**
 * One call's way to its token. Every use asks anew: whether the server is trusted, whether the token may go there,
 * whether the caller is still signed in. Only then is a kept token looked at.
 */
function createOboBearer(parts: OboBearerParts, request: OboBearerRequest): Bearer {
  const { trust, targets, subjects, exchanger, requestedClaims } = parts;
  const { server, principal, options, budget } = request;
  const ownerKey = principalKey(principal);
  let presented: { readonly key: string; readonly token: string; readonly via: Subject['via'] } | undefined;
  /** A refused one and the one in its place. */
  let refusedToken: string | undefined;

  /** Of the server as it is now: who answers for it may be somebody else than when this call began. */
  function requireAllowedServer(): ServerSnapshot {
    const current = parts.getCurrentServer(server, principal.tenant);
    if (!current || targets.findProblem(current)) throw new GatewayError(refusalCodeOf(current));
    return current;
  }

  /** That nobody is there to exchange at is the operator's to mend; nobody was forbidden anything. */
  function refusalCodeOf(current: ServerSnapshot | undefined): ErrorCode {
    const hasNoProvider = current !== undefined && targets.findProblem(current)?.code === NO_PROVIDER;
    return hasNoProvider ? 'OBO_MISCONFIGURED' : 'MCP_OBO_FORBIDDEN';
  }

  function requireProvider(): ExchangeProvider {
    const provider = parts.providers().find(options);
    if (!provider) throw new GatewayError('OBO_MISCONFIGURED');
    return provider;
  }

  /** Of who cannot exchange any, the access token: what is missing there is told first. */
  const getSubject = () => subjects.current(principal, parts.providers().find(options)?.subjectKind);

  const claimsKey = ({ hash }: Subject) => JSON.stringify([ownerKey, server.revision, hash]);

  function claimsFor(subject: Subject): string | undefined {
    return requestedClaims.size === 0 ? undefined : requestedClaims.get(claimsKey(subject));
  }

  const proverOf = ({ isKeyBound: binds, identity }: ExchangeProvider) =>
    binds ? parts.boundKeys(server, principal, identity.provider) : undefined;

  function keyFor(subject: Subject, provider: ExchangeProvider): string {
    const keyThumbprint = proverOf(provider)?.thumbprint;
    const claims = claimsFor(subject);
    return parts.keyOf({ server, principal, options, subject, provider, claims, keyThumbprint });
  }

  /** Where tokens are bound to a key, never a mere text. */
  function toToken(accessToken: string): WireToken {
    return toWireToken({ accessToken, prover: proverOf(requireProvider()) });
  }

  function jobFor(subject: Subject, provider: ExchangeProvider): ExchangeJob {
    const { audience, resource } = options;
    return {
      context: { server, principal, scopes: options.scopes },
      provider,
      key: keyFor(subject, provider),
      request: {
        ...{ subject, audience, resource },
        scopes: scopeList(options.scopes),
        targetServer: parts.resourceOf(server),
        claims: claimsFor(subject),
        prover: proverOf(provider),
      },
      holder: {
        tenant: server.tenant,
        principal: ownerKey,
        serverId: server.id,
        revision: server.revision,
      },
      maxRequests: MAX_TOKEN_REQUESTS - budget.requests,
      // A connection that others use too may be opened with it: who leaves stops waiting elsewhere.
      signal: new LightCancellation(),
    };
  }

  /** Without I/O, or not at all. */
  function peekToken(): string | undefined {
    if (trust.isTrusted(requireAllowedServer()) !== true) return undefined;
    const subject = getSubject();
    if (subject instanceof Promise) {
      // It is asked for again in a moment, by who waits for the answer.
      subject.catch(() => undefined);
      return undefined;
    }
    const key = keyFor(subject, requireProvider());
    const cached = exchanger.peek(key);
    if (!cached) return undefined;
    presented = { key, token: cached.token, via: subject.via };
    return cached.token;
  }

  async function exchange(method: 'obtain' | 'force'): Promise<string> {
    let subject: Subject | undefined;
    try {
      await requireTrust();
      subject = await getSubject();
      const job = jobFor(subject, requireProvider());
      if (job.maxRequests < 1) throw new GatewayError('OBO_TEMPORARY');
      const result = await exchanger[method](job);
      budget.requests += result.requests;
      // While the provider was asked, who decides about this server may have lost the right, and the caller may have left.
      await requireTrust();
      await getSubject();
      presented = { key: job.key, token: result.token.token, via: subject.via };
      return presented.token;
    } catch (error) {
      if (error instanceof ExchangeFault) {
        // However many requests it took: this call makes no more.
        budget.requests = MAX_TOKEN_REQUESTS;
        if (subject && error.kind !== 'idp_unavailable' && error.code !== 'OBO_CONSENT_REQUIRED') {
          // What a server asked for may be what the provider does not understand.
          requestedClaims.delete(claimsKey(subject));
        }
      }
      const callerError = explainFault(error, subject?.via ?? viaOf(principal));
      if (callerError instanceof ReauthNeeded) await storePendingClaims(callerError.detail.claims);
      reportRefused(error);
      throw callerError;
    }
  }

  async function requireTrust(): Promise<void> {
    if (!(await trust.isTrusted(requireAllowedServer()))) throw new GatewayError('MCP_OBO_FORBIDDEN');
  }

  /** What no exchange came of. Once: what asks in the background, when all is over, is nobody's wish. */
  function reportRefused(error: unknown): void {
    if (!presented && !(error instanceof ExchangeFault))
      parts.onRefused({ server, principal, scopes: options.scopes, error });
  }

  /** For the user's next sign-in. Losing them costs one more sign-in, not the answer. */
  async function storePendingClaims(claims: string | undefined): Promise<void> {
    const text = claims === undefined ? undefined : normalizeClaims(claims);
    if (text !== undefined) await parts.pendingClaims.put(ownerKey, text).catch(() => undefined);
  }

  return {
    extension: parts.providers().find(options)?.extension,
    token() {
      try {
        const cached = peekToken();
        return cached === undefined ? exchange('obtain').then(toToken) : toToken(cached);
      } catch (error) {
        reportRefused(error);
        // An Error, as explained to who calls.
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
        return Promise.reject(explainFault(error, viaOf(principal)));
      }
    },
    async renew(challenge) {
      if (!presented) return false;
      const last = presented;
      const claims = readChallengeClaims(challenge);
      await exchanger.evict(last.key, last.token);
      if (budget.isRenewed) {
        // Another one was exchanged for this very call, and it is not enough either.
        if (claims === undefined) return false;
        await storePendingClaims(claims);
        const code = 'OBO_CONSENT_REQUIRED';
        throw new ReauthNeeded('interaction_required', { code, via: last.via, claims });
      }
      if (budget.requests >= MAX_TOKEN_REQUESTS) return false;
      budget.isRenewed = true;
      refusedToken = last.token;
      if (claims !== undefined) await storeRequestedClaims(claims);
      // Calls that were refused together share the one that takes its place.
      const renewed = await exchange('obtain');
      if (renewed === last.token) await exchange('force');
      return true;
    },
    hasRenewed: () => budget.isRenewed,
    presentedTokens: () => [refusedToken, presented?.token].filter((token) => token !== undefined),
  };

  async function storeRequestedClaims(claims: string): Promise<void> {
    try {
      requestedClaims.set(claimsKey(await getSubject()), claims);
    } catch {
      // The exchange that follows says what is wrong with the caller's own token.
    }
  }
}

function viaOf({ authentication: by }: Principal): Subject['via'] {
  return by.via === 'bearer' ? 'bearer' : 'session';
}

/** When to come back, where the provider does not say: it is left alone for as long after a 429. */
const DEFAULT_RETRY_AFTER_MS = 2_000;

/**
 * What a caller is told of a failed exchange. Whose turn it is decides: the user's, the operator's or nobody's. What the
 * provider said is for the operator alone.
 */
function explainFault(error: unknown, via: Subject['via']): unknown {
  if (error instanceof SubjectUnavailable) {
    const code = error.reason === 'absent' ? 'OBO_SUBJECT_TOKEN_MISSING' : 'OBO_SUBJECT_TOKEN_EXPIRED';
    return new ReauthNeeded(error.reason, { code, via: error.via }, error);
  }
  if (!(error instanceof ExchangeFault)) return error;
  const { code, detail } = error;
  if (code === 'OBO_REJECTED') return new ReauthNeeded('rejected', { code, via }, error);
  if (code === 'OBO_CONSENT_REQUIRED') {
    return new ReauthNeeded('interaction_required', { code, via, claims: detail.claims }, error);
  }
  const retryAfterMs = detail.retryAfterMs ?? (code === 'OBO_TEMPORARY' ? DEFAULT_RETRY_AFTER_MS : undefined);
  return new GatewayError(code, { ...(retryAfterMs !== undefined && { retryAfterMs }), cause: error });
}
