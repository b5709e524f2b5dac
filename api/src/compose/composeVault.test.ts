import type { AuditEvent } from '@behalf/gateway';
import type { CredentialKey } from '@behalf/gateway/ports';
import { createKeyring, systemClock, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createTestNetwork } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { isTestFile, readSources } from '../../../tools/sources.ts';
import { createRefreshStats, recordVaultEvent } from '../routes/ops/counters.ts';
import { createDisposables } from '../runtime/lifecycle.ts';
import { composeVault } from './vault.ts';

const credential: CredentialKey = {
  ...{ tenant: 'default', principal: 'user:ada', serverId: 's1', label: 'default' },
  kind: 'oauth_code',
};

describe('what the vault tells', () => {
  test('each of its events is counted or written down, none is dropped', () => {
    const refreshes = createRefreshStats();
    const noted: AuditEvent[] = [];
    const parts = { refreshes, audit: { note: (event: AuditEvent) => void noted.push(event) } };
    recordVaultEvent(parts, { kind: 'refresh', credential, outcome: 'ok' });
    recordVaultEvent(parts, { kind: 'refresh', credential, outcome: 'lost_rotation' });
    expect([Object.fromEntries(refreshes.outcomes), refreshes.notStored]).toEqual([
      { ok: 1, lost_rotation: 1 },
      0,
    ]);
    recordVaultEvent(parts, { kind: 'persist_failed', credential });
    expect([refreshes.notStored, noted]).toEqual([1, []]);
    recordVaultEvent(parts, { kind: 'sign_in_needed', credential, reason: 'rejected' });
    expect(noted).toEqual([
      expect.objectContaining({ action: 'credential.sign_in_needed', code: 'rejected', serverId: 's1' }),
    ]);
    expect([Object.fromEntries(refreshes.outcomes), refreshes.notStored]).toEqual([
      { ok: 1, lost_rotation: 1 },
      1,
    ]);
  });
});

describe('the vault of a composition', () => {
  test('is made in one place, and kept by no module', () => {
    const makers = readSources()
      .filter(
        ({ path, text }) =>
          /^(api|packages|config)\/(\w+\/)?src\//.test(path) && text.includes('createVault('),
      )
      .filter(({ path }) => !isTestFile(path) && !path.startsWith('packages/testkit/'))
      .map(({ path }) => path);
    expect(makers.sort()).toEqual([
      'api/src/compose/vault.ts',
      'packages/gateway/src/credentials/vault/createVault.ts',
    ]);
  });

  test('knows nothing of what another one keeps', async () => {
    const disposables = createDisposables(() => undefined);
    const network = createTestNetwork([]);
    const composed = () => {
      const [clock, random] = [systemClock, systemRandom];
      const store = openMemoryStore({ clock, random });
      disposables.add(() => store.close());
      const context = {
        ...{ clock, random, disposables, primary: store, coordination: store, log: () => undefined },
        keyring: createKeyring([new Uint8Array(32).fill(1)], random),
        egress: { network },
      };
      return composeVault(context, {
        ...{ refreshes: createRefreshStats(), audit: { note: () => undefined }, loginGrants: null },
        serverGrants: () => {
          throw new Error('no grant is refreshed here');
        },
      });
    };
    const [one, other] = [composed(), composed()];
    try {
      await one.vault.commit({
        ...credential,
        binding: {
          canonicalUrl: 'https://a.example/mcp',
          issuer: 'https://as.example',
          clientId: 'c',
          resource: null,
        },
        endpoints: { token: 'https://as.example/token', revocation: null, authorization: null, fetchedAt: 0 },
        tokens: { accessToken: 'kept-by-one', tokenType: 'bearer', expiresInS: null },
        sentAt: Date.now(),
        scopesRequested: '',
        baseGeneration: 0,
      });
      expect(await one.vault.list('default', credential.principal, 's1')).toHaveLength(1);
      expect(await other.vault.list('default', credential.principal, 's1')).toEqual([]);
    } finally {
      await disposables.disposeAll();
      await network.close();
    }
  });
});
