import type { CredentialsView, DisconnectView, ImportCredentialRequest } from '@behalf/contracts';
import { queryOptions } from '@tanstack/react-query';
import { request, segment, send } from './request.ts';
import { serverKey } from './servers.ts';

/** A token may be renewed, or refused, while somebody looks at it. */
const EVERY_MS = 15_000;

const path = (server: string) => `/api/mcp/${segment(server)}/credentials`;
const labelled = (server: string, label: string) => `${path(server)}/${segment(label)}`;

/** What the user has at a server, in the order of the gateway. No part of a token is among it. */
export const credentialsQuery = (server: string) =>
  queryOptions({
    queryKey: [...serverKey(server), 'credentials'],
    queryFn: async ({ signal }) => (await request<CredentialsView>(path(server), { signal })).credentials,
    refetchInterval: EVERY_MS,
  });

export async function makeDefault(server: string, label: string): Promise<void> {
  await send(labelled(server, label), { method: 'PATCH', body: { isDefault: true } });
}

export function disconnect(server: string, label: string): Promise<DisconnectView> {
  return request(labelled(server, label), { method: 'DELETE' });
}

/** A token from elsewhere. It goes in, and is never shown again. */
export async function bringToken(server: string, body: ImportCredentialRequest): Promise<void> {
  await send(`/api/mcp/${segment(server)}/credential`, { method: 'PUT', body });
}
