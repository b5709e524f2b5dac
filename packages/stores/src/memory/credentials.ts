import { credentialId, type CredentialStore } from '@behalf/gateway/ports';
import { copyOf, refuseTwin, removeWhere } from './records.ts';
import type { Tables } from './tables.ts';

export function createMemoryCredentials({ credentials }: Tables): CredentialStore {
  return {
    async put(credential) {
      refuseTwin(credentials, credential, 'tenant', 'principal', 'serverId', 'kind', 'label');
      credentials.set(credential.id, { ...credential });
    },
    find: async (key) => copyOf(credentials.get(credentialId(key))),
    remove: async (key) => credentials.delete(credentialId(key)),
    removeOfPrincipal: async (tenant, principal) =>
      removeWhere(credentials, (held) => held.tenant === tenant && held.principal === principal),
    removeOfServer: async (tenant, serverId) =>
      removeWhere(credentials, (held) => held.tenant === tenant && held.serverId === serverId),
    removeExpired: async (now) =>
      removeWhere(credentials, ({ expiresAt }) => expiresAt !== null && expiresAt <= now),
  };
}
