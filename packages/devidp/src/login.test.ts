import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buildEndSessionUrl, refreshTokenGrant } from 'openid-client';
import { adaUser, bobUser, closeIdps, createIdpRig, webClient } from '../test/idpRig.ts';
import { createScriptedBrowser } from './scriptedBrowser.ts';

let rig: Awaited<ReturnType<typeof createIdpRig>>;
beforeAll(async () => void (rig = await createIdpRig()));
afterAll(closeIdps);

describe('signing in', () => {
  test('gives the client tokens of the chosen user', async () => {
    // The client checks PKCE, nonce, issuer and signature on the way.
    for (const { id } of [adaUser, bobUser]) {
      const { callback, tokens } = await rig.signIn(id);
      expect(callback.searchParams.get('iss')).toBe(rig.idp.issuer);
      expect(tokens.claims()).toMatchObject({ sub: id, aud: webClient.id });
      expect((await rig.verify(tokens.access_token)).payload.sub).toBe(id);
    }
  });

  test('says that its answers name their issuer', async () => {
    const metadata = (await rig.discover()).serverMetadata();
    expect(metadata.authorization_response_iss_parameter_supported).toBe(true);
  });

  test('gives a refresh token that works once', async () => {
    const { config, tokens } = await rig.signIn(adaUser.id);
    const first = tokens.refresh_token!;
    const refreshed = await refreshTokenGrant(config, first);
    expect((await rig.verify(refreshed.access_token)).payload.sub).toBe(adaUser.id);
    expect(refreshed.refresh_token).not.toBe(first);
    await expect(refreshTokenGrant(config, first)).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  test('is remembered, until the client wants it shown again', async () => {
    const { browser } = await rig.signIn(adaUser.id);
    const { url, finishSignIn } = await rig.beginSignIn();
    const visit = await browser.open(url);
    expect((await finishSignIn(visit.externalRedirect!)).claims()).toMatchObject({ sub: adaUser.id });
    url.searchParams.set('prompt', 'login');
    expect(await browser.open(url)).toMatchObject({
      status: 200,
      text: expect.stringContaining(bobUser.name),
    });
  });

  test('asks for no consent, also when the client prompts for it', async () => {
    const { browser } = await rig.signIn(adaUser.id);
    const { url, finishSignIn } = await rig.beginSignIn('openid offline_access access_as_user');
    url.searchParams.set('prompt', 'consent');
    const visit = await browser.open(url);
    expect((await finishSignIn(visit.externalRedirect!)).scope).toBe('access_as_user');
  });

  test('can be cancelled', async () => {
    const browser = createScriptedBrowser();
    const { url } = await rig.beginSignIn();
    const page = await browser.open(url);
    const { externalRedirect: leavesTo } = await browser.open(page.url, { cancel: 'yes' });
    expect(Object.fromEntries(leavesTo!.searchParams)).toMatchObject({
      error: 'access_denied',
      iss: rig.idp.issuer,
    });
  });

  test('signs nobody in who is not a user', async () => {
    const browser = createScriptedBrowser();
    const { url } = await rig.beginSignIn();
    const page = await browser.open(url);
    expect(await browser.open(page.url, { user: 'u-eve' })).toMatchObject({ status: 400 });
    expect(await browser.open(page.url, {})).toMatchObject({ status: 400 });
    expect((await browser.open(url)).text).toContain(adaUser.name);
  });

  test('is finished only by the browser that began it', async () => {
    const { url } = await rig.beginSignIn();
    const page = await createScriptedBrowser().open(url);
    const other = await createScriptedBrowser().open(page.url, { user: adaUser.id });
    expect(other).toMatchObject({ status: 400, text: expect.stringContaining('This sign-in has ended.') });
    expect(other.externalRedirect).toBeUndefined();
  });

  test('needs PKCE and a registered address to go back to', async () => {
    const { url } = await rig.beginSignIn();
    const bare = new URL(url);
    bare.searchParams.delete('code_challenge');
    bare.searchParams.delete('code_challenge_method');
    const refused = await createScriptedBrowser().open(bare);
    expect(refused.externalRedirect!.searchParams.get('error')).toBe('invalid_request');

    url.searchParams.set('redirect_uri', 'http://127.0.0.1:2/callback');
    const page = await createScriptedBrowser().open(url);
    expect(page).toMatchObject({ status: 400, text: expect.stringContaining('invalid_redirect_uri') });
    expect(page.externalRedirect).toBeUndefined();
  });
});

describe('signing out', () => {
  test('ends the login and its refresh token', async () => {
    const { config, browser, tokens } = await rig.signIn(adaUser.id);
    const bye = webClient.postLogoutRedirectUris[0]!;
    const endSessionUrl = buildEndSessionUrl(config, {
      id_token_hint: tokens.id_token!,
      post_logout_redirect_uri: bye,
    });
    const page = await browser.open(endSessionUrl);
    expect(page.text).toContain('Do you want to sign out?');
    const [, action] = /action="([^"]+)"/.exec(page.text)!;
    const [, xsrf] = /name="xsrf" value="([^"]+)"/.exec(page.text)!;
    const { externalRedirect: leavesTo } = await browser.open(action!, { xsrf: xsrf!, logout: 'yes' });
    expect(leavesTo!.href).toBe(bye);

    const { url } = await rig.beginSignIn();
    expect((await browser.open(url)).text).toContain('Sign in');
    await expect(refreshTokenGrant(config, tokens.refresh_token!)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });
});

describe('the login page', () => {
  test('has a button for each user, no script and nothing from elsewhere', async () => {
    const { url } = await rig.beginSignIn();
    const { text } = await createScriptedBrowser().open(url);
    expect(text).toContain('<html lang="en">');
    expect(text).toContain('<h1>Sign in</h1>');
    for (const { id } of [adaUser, bobUser]) {
      expect(text).toContain(`<button class="user" type="submit" name="user" value="${id}">`);
    }
    expect(text).not.toMatch(/<script|\bon\w+=|https?:/);
    const page = await fetch(`${rig.idp.issuer}/interaction/none`);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('cache-control')).toBe('no-store');
  });

  test('escapes what it shows', async () => {
    const mallory = {
      id: `"><script>alert('id')</script>&`,
      email: `"onfocus=alert(1) x="@example.test`,
      name: '<img src=x onerror=alert(1)>',
      roles: ['<b>ADMIN</b>'],
    };
    const { beginSignIn, signIn, verify } = await createIdpRig({ users: [mallory] });
    const { url } = await beginSignIn();
    const { text } = await createScriptedBrowser().open(url);
    expect(text).toContain('&#60;img src=x onerror=alert(1)&#62;');
    expect(text).not.toMatch(/<script|<img|<b>|"on/);
    expect((await verify((await signIn(mallory.id)).tokens.access_token)).payload.sub).toBe(mallory.id);
  });
});
