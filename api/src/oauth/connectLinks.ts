import { createHash } from 'node:crypto';
import {
  connectPagePath,
  credentialHolder,
  OPENID_SIGN_IN_PATH,
  principalKey,
  type CredentialVault,
  type Principal,
  type Registry,
} from '@behalf/gateway';
import type { Clock, Keyring, SealContext } from '@behalf/kernel';

export interface ConnectLinks {
  /** The path of the page where this user connects the server. `place`: where the sign-in itself happens. */
  buildConnectPath(caller: Principal, server: string, signInLocation?: unknown): string;
  /** Whether a link to the page of this server was made for this user, and still counts. */
  validate(caller: Principal, server: string, reference: string): 'valid' | 'expired' | 'foreign';
  /** One name for whatever asks this user to connect this server, until they have. */
  computeElicitationId(caller: Principal, server: string): Promise<string>;
}

export interface ConnectLinksParts {
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly vault: Pick<CredentialVault, 'list'>;
  readonly registry: Pick<Registry, 'find'>;
}

/** A link counts for one of these at least and for two at most: then all calls of that time give the same one. */
const WINDOW_MS = 30 * 60_000;
const REFERENCE_PATTERN = /^([0-9a-z]{1,12})\.(.{1,100})$/;

/**
 * Links that a client shows to its user. Whoever gets hold of one could send it to somebody else, who would then connect an
 * account of theirs without having asked for it: so it names, by a MAC, the one user it is for. It holds no secret, tells
 * nobody who that is, and opens nothing: the page asks who is signed in there. No store is needed: every replica makes the
 * same link, and knows it.
 */
export function createConnectLinks({ keyring, clock, vault, registry }: ConnectLinksParts): ConnectLinks {
  function createReference(caller: Principal, server: string): string {
    const expiresAt = ((Math.floor(clock.now() / WINDOW_MS) + 2) * WINDOW_MS).toString(36);
    return `${expiresAt}.${keyring.mac(expiresAt, toSealContext(caller, server))}`;
  }

  return {
    buildConnectPath(caller, server, signInLocation) {
      const query = new URLSearchParams({
        for: createReference(caller, server),
        ...(signInLocation === OPENID_SIGN_IN_PATH && { signIn: 'here' }),
      });
      return `${connectPagePath({ name: server })}?${query.toString()}`;
    },
    validate(caller, server, reference) {
      const [, expiresAt = '', mac = ''] = REFERENCE_PATTERN.exec(reference) ?? [];
      if (!keyring.verifyMac(expiresAt, mac, toSealContext(caller, server))) return 'foreign';
      return clock.now() < parseInt(expiresAt, 36) ? 'valid' : 'expired';
    },
    async computeElicitationId(caller, server) {
      const { tenant } = caller;
      const knownServer = registry.find(tenant, server);
      const credentials = knownServer
        ? await vault.list(tenant, credentialHolder(caller), knownServer.id)
        : [];
      // A sign-in, and its end, are counted: what is asked for after one of them is another matter.
      const generations = credentials.map(({ id, generation }) => [id, generation]).sort();
      const name = JSON.stringify([principalKey(caller), knownServer?.id ?? server, generations]);
      return `behalf:${createHash('sha256').update(name).digest('base64url')}`;
    },
  };
}

function toSealContext(caller: Principal, server: string): SealContext {
  return {
    tenant: caller.tenant,
    principal: principalKey(caller),
    ...{ server, kind: 'connect-link', field: 'for' },
  };
}
