import type { ErrorCode } from '@behalf/contracts';
import { withTimeout, type Clock } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

export type ServerAvailability = 'connected' | 'unreachable' | 'needs_authorization' | 'needs_configuration';

/** Why a server has nothing for this caller. */
export interface Absence {
  readonly state: Exclude<ServerAvailability, 'connected'>;
  readonly code: ErrorCode;
}

export interface LoadFailure {
  readonly absence: Absence;
  readonly cause: unknown;
}

export interface EachServerOptions {
  readonly clock: Clock;
  /** How long one server may take before the others go out without it. */
  readonly deadlineMs?: number;
  readonly signal: AbortSignal;
  /** What errors of other folders mean; undefined leaves them to us. */
  readonly explain?: (error: unknown, server: ServerSnapshot) => Absence | undefined;
}

const DEADLINE_MS = 5_000;

/** Asks all of them at once: one that fails or hangs says so, and neither hides nor delays another. */
export async function loadFromEachServer<S extends ServerSnapshot, T extends object>(
  servers: readonly S[],
  loadOne: (server: S, signal: AbortSignal) => Promise<T>,
  { clock, deadlineMs = DEADLINE_MS, signal, explain }: EachServerOptions,
): Promise<[S, T | LoadFailure][]> {
  const results = await Promise.all(
    servers.map(async (server): Promise<[S, T | LoadFailure]> => {
      const timeout = new AbortController();
      try {
        // A loader that throws before it promises anything must not take the others with it.
        const loading = (async () => loadOne(server, AbortSignal.any([signal, timeout.signal])))();
        return [server, await withTimeout(clock, deadlineMs, loading, () => abortOnTimeout(timeout))];
      } catch (cause) {
        return [server, { absence: explain?.(cause, server) ?? toAbsence(cause), cause }];
      }
    }),
  );
  signal.throwIfAborted();
  return results;
}

function abortOnTimeout(timeout: AbortController): never {
  const error = new UpstreamError('connect_timeout');
  timeout.abort(error);
  throw error;
}

function toAbsence(error: unknown): Absence {
  const code =
    error instanceof UpstreamError || error instanceof GatewayError ? error.code : 'MCP_UNREACHABLE';
  return { state: availabilityOf(code), code };
}

function availabilityOf(code: ErrorCode): Absence['state'] {
  switch (code) {
    case 'MCP_USER_VARS_MISSING':
      return 'needs_configuration';
    case 'MCP_AUTHORIZATION_REQUIRED':
    case 'MCP_AUTHORIZATION_UNAVAILABLE':
    case 'MCP_CREDENTIAL_REJECTED':
    case 'OPENID_REAUTH_REQUIRED':
    case 'OBO_SUBJECT_TOKEN_MISSING':
    case 'OBO_SUBJECT_TOKEN_EXPIRED':
    case 'OBO_REJECTED':
    case 'OBO_CONSENT_REQUIRED':
      return 'needs_authorization';
    default:
      return 'unreachable';
  }
}
