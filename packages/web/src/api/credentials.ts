import type {
  CredentialsView,
  DisconnectView,
  FlowStatusView,
  FlowView,
  ImportCredentialRequest,
  Problem,
  StartFlowRequest,
} from '@behalf/contracts';
import { queryOptions } from '@tanstack/react-query';
import { ApiError, encodeSegment, requestJson, sendRequest } from './request.ts';
import { serverKey } from './servers.ts';

/** A token may be renewed, or refused, while somebody looks at it. */
const REFRESH_MS = 15_000;

const credentialsPath = (server: string) => `/api/mcp/${encodeSegment(server)}/credentials`;
const credentialPath = (server: string, label: string) =>
  `${credentialsPath(server)}/${encodeSegment(label)}`;

/** What the user has at a server, in the order of the gateway. No part of a token is among it. */
export const credentialsQuery = (server: string) =>
  queryOptions({
    queryKey: [...serverKey(server), 'credentials'],
    queryFn: async ({ signal }) =>
      (await requestJson<CredentialsView>(credentialsPath(server), { signal })).credentials,
    refetchInterval: REFRESH_MS,
  });

export async function setDefaultCredential(server: string, label: string): Promise<void> {
  await sendRequest(credentialPath(server, label), { method: 'PATCH', body: { isDefault: true } });
}

export function deleteCredential(server: string, label: string): Promise<DisconnectView> {
  return requestJson(credentialPath(server, label), { method: 'DELETE' });
}

/** A token from elsewhere. It goes in, and is never shown again. */
export async function importToken(server: string, body: ImportCredentialRequest): Promise<void> {
  await sendRequest(`/api/mcp/${encodeSegment(server)}/credential`, { method: 'PUT', body });
}

/**
 * Begins a sign-in at a server. One that is under way already, of this or another window, is joined; not one for another
 * credential than was asked for.
 */
export async function startFlow(server: string, body: StartFlowRequest): Promise<FlowView> {
  try {
    return await requestJson(`/api/mcp/${encodeSegment(server)}/oauth/start`, { method: 'POST', body });
  } catch (error) {
    const isPending = error instanceof ApiError && error.code === 'MCP_FLOW_PENDING';
    const flow = isPending ? readPendingFlow(error.problem) : undefined;
    if (!flow || (body.label !== undefined && flow.label !== body.label)) throw error;
    await bindFlow(server);
    return flow;
  }
}

/** Whoever goes on with it here need not say once more that it is they. Without that they are asked, and nothing is lost. */
async function bindFlow(server: string): Promise<void> {
  try {
    await sendRequest(`/api/mcp/${encodeSegment(server)}/oauth/bind`, { method: 'POST', body: {} });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

/** What stands beside the words of the refusal. */
function readPendingFlow({ flowId, connectUrl, expiresAt, label }: Partial<Problem> = {}):
  FlowView | undefined {
  if (flowId === undefined || connectUrl === undefined) return undefined;
  if (expiresAt === undefined || label === undefined) return undefined;
  return { flowId, connectUrl, expiresAt, label };
}

/** How a sign-in stands. The gateway takes so many milliseconds to answer, unless it is over before. */
export function flowStatus(flowId: string, waitMs: number, signal: AbortSignal): Promise<FlowStatusView> {
  return requestJson(`/api/mcp/oauth/status/${encodeSegment(flowId)}?wait=${waitMs}`, { signal });
}

/** Whatever is under way at this server. Nothing where nothing is. */
export async function cancelFlow(server: string): Promise<void> {
  await sendRequest(`/api/mcp/oauth/cancel/${encodeSegment(server)}`, { method: 'POST', body: {} });
}
