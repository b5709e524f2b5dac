import { finding } from '@behalf/contracts';
import type { ListAll } from '../catalog/listAll.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { couldSignIn } from '../registry/couldSignIn.ts';
import { renderTarget } from '../registry/renderTarget.ts';
import type { UserServer } from '../registry/server.ts';
import { toGatewayError } from '../toolcall/toGatewayError.ts';
import type { OpenUpstream } from '../upstream/openUpstream.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { ConfigureParts, Looked } from './parts.ts';
import { invalid } from './readInput.ts';

/** Somebody waits in front of a form. */
const PATIENCE_MS = 20_000;

/**
 * A look at a server that is not stored yet: one conversation with what its definition holds, closed again. It shares
 * nothing with those of other servers, and leaves nothing behind.
 */
export function createInspectDefinition(parts: {
  readonly open: OpenUpstream;
  readonly listAll: ListAll;
}): ConfigureParts['inspect'] {
  return async (server) => {
    try {
      return { tools: await countTools(parts, server, targetOf(server)) };
    } catch (error) {
      return afterFailure(error, server);
    }
  };
}

function targetOf({ settings }: UserServer): RemoteTarget {
  const rendered = renderTarget(settings, {}, { audience: 'user-server', inheritedEnv: {} });
  if (!rendered.ok) throw invalid([finding([rendered.field], rendered.code, 'cannot be used')]);
  if (rendered.target.type === 'stdio') throw new GatewayError('MCP_CONFIG_INVALID');
  return rendered.target;
}

async function countTools(
  { open, listAll }: { readonly open: OpenUpstream; readonly listAll: ListAll },
  { id, settings }: UserServer,
  target: RemoteTarget,
): Promise<number> {
  const { signal } = new AbortController();
  const limits = { timeoutMs: PATIENCE_MS, totalMs: PATIENCE_MS };
  const options = { server: id, owner: undefined, era: settings.era, signal };
  const upstream = await open(target, { ...options, initTimeoutMs: PATIENCE_MS });
  try {
    const { items } = await listAll(upstream, 'tools/list', { ...limits, signal, headers: target.headers });
    return items.length;
  } finally {
    await upstream.close();
  }
}

function afterFailure(error: unknown, server: UserServer): Looked {
  // It is there and wants a sign-in first, which nobody said: then it is one whose users sign in.
  if (error instanceof UpstreamError && error.reason === 'unauthorized' && couldSignIn(server)) {
    return {};
  }
  const told = toGatewayError(error, 'The server');
  if (!(told instanceof GatewayError) || told.code === 'MCP_DOMAIN_NOT_ALLOWED') throw told;
  throw new GatewayError('MCP_INSPECTION_FAILED', { detail: told.detail, cause: error });
}
