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

/** The state of a token can change while the page shows it. */
const REFRESH_MS = 15_000;

const credentialsPath = (server: string) => `/api/mcp/${encodeSegment(server)}/credentials`;
const credentialPath = (server: string, label: string) =>
  `${credentialsPath(server)}/${encodeSegment(label)}`;

/** Credentials of the user at a server, in the order of the gateway. No response contains a token. */
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

/** Imports a token. No response ever returns it. */
export async function importToken(server: string, body: ImportCredentialRequest): Promise<void> {
  await sendRequest(`/api/mcp/${encodeSegment(server)}/credential`, { method: 'PUT', body });
}

/**
 * Starts a sign-in at a server. If a sign-in is already pending in any window, it is joined, unless
 * it is for another credential than the requested one.
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

/**
 * Binds the pending sign-in to this browser with a cookie. Without the cookie the user has to
 * confirm the sign-in, so an API error is ignored.
 */
async function bindFlow(server: string): Promise<void> {
  try {
    await sendRequest(`/api/mcp/${encodeSegment(server)}/oauth/bind`, { method: 'POST', body: {} });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

/** Reads the pending sign-in from the problem document. */
function readPendingFlow({ flowId, connectUrl, expiresAt, label }: Partial<Problem> = {}):
  FlowView | undefined {
  if (flowId === undefined || connectUrl === undefined) return undefined;
  if (expiresAt === undefined || label === undefined) return undefined;
  return { flowId, connectUrl, expiresAt, label };
}

/** Reads the status of a sign-in. The gateway answers when the sign-in ends, after `waitMs` at the latest. */
export function flowStatus(flowId: string, waitMs: number, signal: AbortSignal): Promise<FlowStatusView> {
  return requestJson(`/api/mcp/oauth/status/${encodeSegment(flowId)}?wait=${waitMs}`, { signal });
}

/** Cancels the pending sign-in at this server, if there is one. */
export async function cancelFlow(server: string): Promise<void> {
  await sendRequest(`/api/mcp/oauth/cancel/${encodeSegment(server)}`, { method: 'POST', body: {} });
}
