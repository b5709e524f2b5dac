import { describeWith } from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { decideConsent, openPopup, startConnectRig, type ConnectRig } from './webConnectRig.ts';
import { sendRest } from './webRest.ts';

const CALL = '/api/mcp/servers/notes/tools/note/call';
const HOURS = 2 * 60 * 60_000;

describeWith('chromium', 'a sign-in that ended', () => {
  let rig: ConnectRig;
  beforeAll(async () => {
    rig = await startConnectRig();
  }, 120_000);
  afterAll(() => rig?.close());

  const card = (page: Page) => page.getByRole('region', { name: 'Sign-in to this server' });
  const connect = async (page: Page, name: string) =>
    decideConsent(
      await openPopup(page, () => card(page).getByRole('button', { name, exact: true }).click()),
      'Allow',
    );
  const works = (page: Page) => card(page).getByText('Active', { exact: true }).waitFor();
  const keep = (page: Page, text: string) => sendRest(page, 'POST', CALL, { arguments: { text } });

  test('is shown on the page of its server, and the next one takes its place', async () => {
    const page = await rig.openPage('bea', { path: '/servers/notes' });
    await connect(page, 'Connect');
    await works(page);
    // Its token is over, and the authorization server gives no other.
    for (const { token } of rig.notes.guardedRequests) if (token) rig.authorization.endFamily(token.familyId);
    rig.advanceClock(HOURS);
    expect(await keep(page, 'lost')).toMatchObject({
      isError: true,
      _meta: { 'behalf/auth': { code: 'needs_reauth', reason: 'rejected' } },
    });
    await card(page).getByText('Sign in again', { exact: true }).waitFor();
    await card(page).getByText('Your sign-in is no longer accepted.', { exact: false }).waitFor();
    await page.getByText('Sign in to this server to call its tools.').waitFor();
    await connect(page, 'Connect again');
    await works(page);
    expect(await keep(page, 'again')).toMatchObject({
      isError: false,
      content: [{ text: 'kept: again' }],
    });
    await page.context().close();
  }, 120_000);
});
