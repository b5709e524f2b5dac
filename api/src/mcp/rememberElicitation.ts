import { hasUsableCredential } from '@behalf/gateway';
import type { McpRequest } from './mcpRequest.ts';
import { createMcpInbound } from './mcpInbound.ts';
import { isObject } from './rpcMessage.ts';
import type { MethodParts } from './methods/methodParts.ts';
import { RpcFault, rpcCode } from './rpcFault.ts';

/**
 * Remembers a page that a client was just told to open (-32042), so that its session hears when that is done. Who is
 * connected already was asked for more than that, a wider scope perhaps: of that nothing here tells the end.
 */
export async function rememberElicitation(
  { servers, elicitations, requestIds }: Pick<MethodParts, 'servers' | 'elicitations' | 'requestIds'>,
  mcpRequest: McpRequest,
  server: string,
  error: unknown,
): Promise<void> {
  const { session } = mcpRequest;
  const id = session && findElicitationId(error);
  if (id === undefined) return;
  try {
    if (await hasUsableCredential(servers, server, createMcpInbound(mcpRequest, requestIds()))) return;
    await elicitations.add(session as NonNullable<typeof session>, { id, server });
  } catch {
    // The store does not answer: the client has the page all the same, and asks again by itself.
  }
}

function findElicitationId(error: unknown): string | undefined {
  if (!(error instanceof RpcFault) || error.code !== rpcCode.urlElicitation) return undefined;
  const { elicitations } = error.data ?? {};
  const [first] = Array.isArray(elicitations) ? (elicitations as unknown[]) : [];
  return isObject(first) && typeof first['elicitationId'] === 'string' ? first['elicitationId'] : undefined;
}
