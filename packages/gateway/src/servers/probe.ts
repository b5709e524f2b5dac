import { createFinding } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ItemList, ListAll } from '../upstream/listAll.ts';
import type { OpenUpstream } from '../upstream/openUpstream.ts';
import type { OpenOptions, RemoteTarget } from '../upstream/target.ts';
import { toGatewayError } from '../upstream/toGatewayError.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { type ServerSnapshot, type UserServer, mayRequireOAuth } from '../definitions/definition.ts';
import type { ConfigureParts, ServerProbe } from './editing.ts';
import { createConfigError } from './fields.ts';
import { renderTarget } from '../definitions/render.ts';

export interface ProbeParts {
  readonly open: OpenUpstream;
  readonly listAll: ListAll;
}

interface ProbeOptions {
  /** Limits the time until the connection is open. */
  readonly initTimeoutMs: number;
  readonly signal?: AbortSignal;
}

type OpenProbe = (target: RemoteTarget, options: OpenOptions) => Upstream | Promise<Upstream>;

/**
 * Opens a private connection to a server, runs `work` on it and closes it. The connection shares nothing with the pools
 * and belongs to no user: calls, circuit breakers and cached lists do not change.
 */
export async function withProbeConnection<T>(
  open: OpenProbe,
  { id, settings }: Pick<ServerSnapshot, 'id' | 'settings'>,
  target: RemoteTarget,
  { initTimeoutMs, signal = new AbortController().signal }: ProbeOptions,
  work: (upstream: Upstream, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const options = { server: id, owner: undefined, era: settings.era, initTimeoutMs, signal };
  const upstream = await open(target, options);
  try {
    return await work(upstream, signal);
  } finally {
    await upstream.close();
  }
}

/** Connects, lists the tools with the headers and the token of the target, and closes. */
export function probeTools(
  { open, listAll }: { readonly open: OpenProbe; readonly listAll: ListAll },
  server: Pick<ServerSnapshot, 'id' | 'settings'>,
  target: RemoteTarget,
  { timeoutMs, ...options }: ProbeOptions & { readonly timeoutMs: number },
): Promise<ItemList> {
  const { headers, bearer } = target;
  return withProbeConnection(open, server, target, options, (upstream, signal) => {
    const limits = { timeoutMs, totalMs: timeoutMs, signal };
    return listAll(upstream, 'tools/list', { ...limits, headers, ...(bearer && { bearer }) });
  });
}

/** Limits each step of a probe for which a user waits in a form. */
export const definitionProbeLimits = { timeoutMs: 20_000, initTimeoutMs: 20_000 };

/** Creates the probe of definitions that are not stored yet. It presents only what the definition contains. */
export function createInspectDefinition(parts: ProbeParts): ConfigureParts['inspect'] {
  return async (server): Promise<ServerProbe> => {
    try {
      const target = renderDefinitionTarget(server);
      return { tools: (await probeTools(parts, server, target, definitionProbeLimits)).items.length };
    } catch (error) {
      // A 401 to a definition without credentials means that users must sign in.
      if (error instanceof UpstreamError && error.reason === 'unauthorized' && mayRequireOAuth(server))
        return {};
      const callerError = toGatewayError(error, 'The server');
      if (!(callerError instanceof GatewayError) || callerError.code === 'MCP_DOMAIN_NOT_ALLOWED')
        throw callerError;
      throw new GatewayError('MCP_INSPECTION_FAILED', { detail: callerError.detail, cause: error });
    }
  };
}

/** The target of a definition without any user's values. */
export function renderDefinitionTarget({ settings }: UserServer): RemoteTarget {
  const rendered = renderTarget(settings, {}, { audience: 'user-server', inheritedEnv: {} });
  if (!rendered.ok)
    throw createConfigError([createFinding([rendered.field], rendered.code, 'cannot be used')]);
  if (rendered.target.type === 'stdio') throw new GatewayError('MCP_CONFIG_INVALID');
  return rendered.target;
}
