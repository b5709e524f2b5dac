import { type ErrorCode, scopeList } from '@behalf/contracts';
import { LightCancellation, LruMap } from '@behalf/kernel';
import { NO_PROVIDER } from '@behalf/settings';
import type { OboTargets } from '../../access/oboTargets.ts';
import type { OboTrust } from '../../access/oboTrust.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { type Principal, principalKey } from '../../principal/principal.ts';
import type { ServerSnapshot, UserServer } from '../../definitions/definition.ts';
import type { Bearer, WireToken } from '../../upstream/target.ts';
import { normalizeClaims, readChallengeClaims } from '../oauth/claims.ts';
import { toWireToken } from '../oauth/dpop.ts';
import { ReauthNeeded } from '../signInRequired.ts';
import { ExchangeFault, type ExchangeProvider, type ExchangeResource } from './exchangeProvider.ts';
import type { ExchangeContext, ExchangeJob, Exchanger } from './exchanger.ts';
import { type BoundKeys, type OboOptions, createExchangeKeyCache } from './key.ts';
import type { ExchangeProviders } from './providers/exchangeProviders.ts';
import { type Subject, type SubjectSource, SubjectUnavailable } from './subject.ts';

/*
 * The token source of one call to an OBO server. Invariants:
 * - Each use of a token, cached or new, checks again that the server is trusted, that the scopes may go to its URL, and that the caller
 *   still has a subject token. After an exchange it checks all three again.
 * - A call causes at most `MAX_TOKEN_REQUESTS` token requests, the re-exchange after a 401 included.
 * - Callers receive error codes. Codes and hints of the provider go to the log and the audit only.
 */

const MAX_REQUESTED_CLAIMS = 10_000;
/** The retry of an exchange and a forced exchange together. */
const MAX_TOKEN_REQUESTS = 2;

/** Shared by a call and the tool listing that it triggered. */
export interface TokenRequestBudget {
  /** Token requests sent so far. */
  requests: number;
  /** Whether a token was exchanged again because the server refused one. */
  isRenewed: boolean;
}

export function createTokenRequestBudget(): TokenRequestBudget {
  return { requests: 0, isRenewed: false };
}

/** A request for a token that was refused before an exchange. */
export interface RefusedExchange extends ExchangeContext {
  readonly error: unknown;
}

export interface OboTokenParts {
  /** The current definition of the server for this tenant. Undefined if the server is gone or was replaced. */
  readonly getCurrentServer: (server: UserServer, tenant: string) => ServerSnapshot | undefined;
  /** Whether the user who decides about the server's URL may receive other users' tokens. */
  readonly trust: Pick<OboTrust, 'isTrusted'>;
  /** Whether these scopes may be sent to the server's URL. */
  readonly targets: Pick<OboTargets, 'findProblem'>;
  readonly subjects: Pick<SubjectSource, 'current'>;
  readonly providers: () => Pick<ExchangeProviders, 'find'>;
  /** DPoP keys for providers that issue bound tokens. */
  readonly boundKeys: BoundKeys;
  readonly resourceOf: (server: UserServer) => ExchangeResource;
  readonly exchanger: Pick<Exchanger, 'peek' | 'obtain' | 'force' | 'evict'>;
  readonly pendingClaims: { put(principal: string, claims: string): Promise<void> };
  /** Called when a token was refused before an exchange. */
  readonly onRefused: (refusal: RefusedExchange) => void;
}

export interface OboTokens {
  /** The token source of one call. */
  bearerFor(
    server: UserServer,
    principal: Principal,
    options: OboOptions,
    budget: TokenRequestBudget,
  ): Bearer;
}

export function createOboTokens(parts: OboTokenParts): OboTokens {
  const { trust, targets, subjects, exchanger } = parts;
  const keyOf = createExchangeKeyCache();
  /** Claims that a server required, for later calls with the same subject token. */
  const requestedClaims = new LruMap<string, string>(MAX_REQUESTED_CLAIMS);

  function createBearer(
    server: UserServer,
    principal: Principal,
    options: OboOptions,
    budget: TokenRequestBudget,
  ): Bearer {
    const ownerKey = principalKey(principal);
    let presented: { readonly key: string; readonly token: string; readonly via: Subject['via'] } | undefined;
    /** The refused token, which `presented` replaced. */
    let refusedToken: string | undefined;

    /** Uses the current definition: another user may be responsible for the server since the call started. */
    function requireAllowedServer(): ServerSnapshot {
      const current = parts.getCurrentServer(server, principal.tenant);
      const problem = current && targets.findProblem(current);
      if (current && !problem) return current;
      // A missing provider is a configuration error. It does not deny the user anything.
      const code: ErrorCode = problem?.code === NO_PROVIDER ? 'OBO_MISCONFIGURED' : 'MCP_OBO_FORBIDDEN';
      throw new GatewayError(code);
    }

    async function requireTrust(): Promise<void> {
      if (!(await trust.isTrusted(requireAllowedServer()))) throw new GatewayError('MCP_OBO_FORBIDDEN');
    }

    function requireProvider(): ExchangeProvider {
      const provider = parts.providers().find(options);
      if (!provider) throw new GatewayError('OBO_MISCONFIGURED');
      return provider;
    }

    /** Without a provider this falls back to the access token, so that a missing token is reported before the missing provider. */
    const getSubject = () => subjects.current(principal, parts.providers().find(options)?.subjectKind);

    const claimsKey = ({ hash }: Subject) => JSON.stringify([ownerKey, server.revision, hash]);

    function claimsFor(subject: Subject): string | undefined {
      return requestedClaims.size === 0 ? undefined : requestedClaims.get(claimsKey(subject));
    }

    const proverOf = ({ isKeyBound, identity }: ExchangeProvider) =>
      isKeyBound ? parts.boundKeys(server, principal, identity.provider) : undefined;

    function keyFor(subject: Subject, provider: ExchangeProvider): string {
      const keyThumbprint = proverOf(provider)?.thumbprint;
      const claims = claimsFor(subject);
      return keyOf({ server, principal, options, subject, provider, claims, keyThumbprint });
    }

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
        // Never aborted: a connection that other calls share may be opened with this token. The caller stops waiting elsewhere.
        signal: new LightCancellation(),
      };
    }

    /** A cached token. Undefined if any check needs I/O. */
    function peekToken(): string | undefined {
      if (trust.isTrusted(requireAllowedServer()) !== true) return undefined;
      const subject = getSubject();
      if (subject instanceof Promise) {
        // `exchange` reads the subject again and reports the error.
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
        // During the exchange, the server may have lost its trust, or the caller may have signed out.
        await requireTrust();
        await getSubject();
        presented = { key: job.key, token: result.token.token, via: subject.via };
        return presented.token;
      } catch (error) {
        if (error instanceof ExchangeFault) {
          // After a failed exchange this call sends no further request.
          budget.requests = MAX_TOKEN_REQUESTS;
          // The claims that a server requested may be the reason for the fault.
          if (subject && error.kind !== 'idp_unavailable' && error.code !== 'OBO_CONSENT_REQUIRED')
            requestedClaims.delete(claimsKey(subject));
        }
        const callerError = explainFault(error, subject?.via ?? viaOf(principal));
        if (callerError instanceof ReauthNeeded) await storePendingClaims(callerError.detail.claims);
        reportRefused(error);
        throw callerError;
      }
    }

    /** Once per call: after a token was presented, background requests are not reported. */
    function reportRefused(error: unknown): void {
      if (!presented && !(error instanceof ExchangeFault))
        parts.onRefused({ server, principal, scopes: options.scopes, error });
    }

    /** For the user's next sign-in. If this fails, the user must sign in a second time. */
    async function storePendingClaims(claims: string | undefined): Promise<void> {
      const text = claims === undefined ? undefined : normalizeClaims(claims);
      if (text !== undefined) await parts.pendingClaims.put(ownerKey, text).catch(() => undefined);
    }

    async function storeRequestedClaims(claims: string): Promise<void> {
      try {
        requestedClaims.set(claimsKey(await getSubject()), claims);
      } catch {
        // The following exchange reports why there is no subject token.
      }
    }

    return {
      extension: parts.providers().find(options)?.extension,
      token() {
        try {
          const cached = peekToken();
          return cached === undefined ? exchange('obtain').then(toToken) : toToken(cached);
        } catch (error) {
          reportRefused(error);
          // `explainFault` returns an Error here.
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
          // The server refused the second token of this call as well.
          if (claims === undefined) return false;
          await storePendingClaims(claims);
          const code = 'OBO_CONSENT_REQUIRED';
          throw new ReauthNeeded('interaction_required', { code, via: last.via, claims });
        }
        if (budget.requests >= MAX_TOKEN_REQUESTS) return false;
        budget.isRenewed = true;
        refusedToken = last.token;
        if (claims !== undefined) await storeRequestedClaims(claims);
        // Calls that were refused at the same time share the new token.
        const renewed = await exchange('obtain');
        if (renewed === last.token) await exchange('force');
        return true;
      },
      hasRenewed: () => budget.isRenewed,
      presentedTokens: () => [refusedToken, presented?.token].filter((token) => token !== undefined),
    };
  }

  return { bearerFor: createBearer };
}

function viaOf({ authentication: by }: Principal): Subject['via'] {
  return by.via === 'bearer' ? 'bearer' : 'session';
}

/** Matches `throttledTtlMs`, for a temporary fault without `Retry-After`. */
const DEFAULT_RETRY_AFTER_MS = 2_000;

/** The error for the caller: the user must sign in, the operator must act, or a retry may succeed. */
function explainFault(error: unknown, via: Subject['via']): unknown {
  if (error instanceof SubjectUnavailable)
    return new ReauthNeeded(error.reason, { code: error.code, via: error.via }, error);
  if (!(error instanceof ExchangeFault)) return error;
  const { code, detail } = error;
  if (code === 'OBO_REJECTED') return new ReauthNeeded('rejected', { code, via }, error);
  if (code === 'OBO_CONSENT_REQUIRED') {
    return new ReauthNeeded('interaction_required', { code, via, claims: detail.claims }, error);
  }
  const retryAfterMs = detail.retryAfterMs ?? (code === 'OBO_TEMPORARY' ? DEFAULT_RETRY_AFTER_MS : undefined);
  return new GatewayError(code, { ...(retryAfterMs !== undefined && { retryAfterMs }), cause: error });
}
