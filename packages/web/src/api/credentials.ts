import type { CredentialsView, DisconnectView, ImportCredentialRequest } from '@behalf/contracts';
import { queryOptions } from '@tanstack/react-query';
import { requestJson, encodeSegment, sendRequest } from './request.ts';
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
