import { describe, expect, test } from '@jest/globals';
import { adaAccount, createIdentityRig } from '../../test/identityRig.ts';
import { SETUP_LIFETIME_MS } from './setup.ts';

const { role: _, ...admin } = adaAccount;

describe('the setup link', () => {
  test('creates the first administrator, once', async () => {
    const { setup, store } = createIdentityRig();
    const link = (await setup.issueLink())!;
    expect(await setup.isLinkOpen(link)).toBe(true);
    expect(await setup.complete(link, admin)).toMatchObject({ role: 'ADMIN', email: adaAccount.email });
    expect(await setup.isLinkOpen(link)).toBe(false);
    await expect(setup.complete(link, { ...admin, email: 'eve@example.com' })).rejects.toMatchObject({
      code: 'SETUP_LINK_INVALID',
    });
    expect(await store.users.count()).toBe(1);
  });

  test('of many requests with one link, or with many links, one makes an administrator', async () => {
    for (const links of [1, 20]) {
      const { setup, store, passwords } = createIdentityRig();
      const secrets = await Promise.all(Array.from({ length: links }, () => setup.issueLink()));
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) =>
          setup.complete(secrets[i % links]!, { ...admin, email: `admin${i}@example.com` }),
        ),
      );
      const refused = outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
      );
      expect(refused).toHaveLength(19);
      for (const reason of refused) expect(reason).toMatchObject({ code: 'SETUP_LINK_INVALID' });
      expect(await store.users.count()).toBe(1);
      expect(await store.raw.count('tickets')).toBe(0);
      // A link that is used up does not even cost the work of a hash.
      expect(passwords.derivations).toHaveLength(links);
    }
  });

  test('ends after fifteen minutes', async () => {
    const { setup, store, clock } = createIdentityRig();
    const link = (await setup.issueLink())!;
    expect(SETUP_LIFETIME_MS).toBe(15 * 60 * 1_000);
    await clock.advance(SETUP_LIFETIME_MS - 1);
    expect(await setup.isLinkOpen(link)).toBe(true);
    await clock.advance(1);
    expect(await setup.isLinkOpen(link)).toBe(false);
    await expect(setup.complete(link, admin)).rejects.toMatchObject({ code: 'SETUP_LINK_INVALID' });
    expect(await store.users.count()).toBe(0);
  });

  test('a guessed link is none', async () => {
    const { setup, store } = createIdentityRig();
    const link = (await setup.issueLink())!;
    expect(Buffer.from(link, 'base64url')).toHaveLength(32);
    const [ticket] = await store.raw.page('tickets', null, 1);
    for (const guess of ['', 'x', ticket!.hash, `${link}x`]) {
      expect(await setup.isLinkOpen(guess)).toBe(false);
      await expect(setup.complete(guess, admin)).rejects.toMatchObject({ code: 'SETUP_LINK_INVALID' });
    }
  });

  test('is not offered when there is a user', async () => {
    const { setup, accounts, store } = createIdentityRig();
    await accounts.create(adaAccount);
    expect(await setup.issueLink()).toBeNull();
    expect(await store.raw.count('tickets')).toBe(0);
  });

  test('is dead once an account was made by other means', async () => {
    const { setup, accounts, store } = createIdentityRig();
    const link = (await setup.issueLink())!;
    await accounts.create(adaAccount);
    expect(await setup.isLinkOpen(link)).toBe(false);
    await expect(setup.complete(link, { ...admin, email: 'eve@example.com' })).rejects.toMatchObject({
      code: 'SETUP_LINK_INVALID',
    });
    expect(await store.users.count()).toBe(1);
  });
});
