import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeProtectedHeader } from 'jose';
import { refreshTokenGrant } from 'openid-client';
import { adaUser, closeIdps, createIdpRig } from '../test/idpRig.ts';
import { createScriptedBrowser } from './scriptedBrowser.ts';

let rig: Awaited<ReturnType<typeof createIdpRig>>;
beforeEach(async () => void (rig = await createIdpRig()));
afterEach(closeIdps);

const kidsPublished = async () => (await rig.jwks()).keys.map(({ kid }) => kid);
const kidOf = (token: string) => decodeProtectedHeader(token).kid;

describe('key rotation', () => {
  test('signs with the new key, and the old one is gone', async () => {
    const old = (await rig.signIn(adaUser.id)).tokens.access_token;
    await rig.verify(old);
    const { kid } = await rig.idp.rotateKeys({ keepOld: false });
    expect(kid).not.toBe(kidOf(old));
    expect(await kidsPublished()).toEqual([kid]);
    await expect(rig.verify(old)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });

    const { tokens } = await rig.signIn(adaUser.id);
    const fresh = [tokens.access_token, tokens.id_token!, rig.idp.tokens.mint()];
    expect(fresh.map(kidOf)).toEqual([kid, kid, kid]);
    await rig.verify(tokens.access_token);
  });

  test('keeps the old key published where that is asked', async () => {
    const old = rig.idp.tokens.mint();
    const { kid } = await rig.idp.rotateKeys({ keepOld: true });
    expect(await kidsPublished()).toEqual([kid, kidOf(old)]);
    await rig.verify(old);
    const { tokens } = await rig.signIn(adaUser.id);
    expect(kidOf(tokens.access_token)).toBe(kid);
    expect(kidOf(tokens.id_token!)).toBe(kid);
    await rig.verify(tokens.access_token);
  });

  test('leaves logins, codes and refresh tokens as they are', async () => {
    const { config, browser, tokens } = await rig.signIn(adaUser.id);
    const waiting = createScriptedBrowser();
    const { url, finishSignIn } = await rig.beginSignIn();
    const page = await waiting.open(url);
    const { url: again, finishSignIn: finishAgain } = await rig.beginSignIn();
    const code = await browser.signIn(again, adaUser.id);

    const { kid } = await rig.idp.rotateKeys({ keepOld: false });
    const refreshed = await refreshTokenGrant(config, tokens.refresh_token!);
    expect(kidOf(refreshed.access_token)).toBe(kid);
    expect(kidOf((await finishAgain(code)).access_token)).toBe(kid);
    const { externalRedirect: leavesTo } = await waiting.open(page.url, { user: adaUser.id });
    expect((await finishSignIn(leavesTo!)).claims()).toMatchObject({ sub: adaUser.id });
    expect((await browser.open((await rig.beginSignIn()).url)).externalRedirect).toBeDefined();
  });

  test('publishes public halves only, and a few of them', async () => {
    for (let i = 0; i < 6; i += 1) await rig.idp.rotateKeys({ keepOld: true });
    const { keys } = await rig.jwks();
    expect(keys).toHaveLength(5);
    for (const key of keys) expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
  });
});
