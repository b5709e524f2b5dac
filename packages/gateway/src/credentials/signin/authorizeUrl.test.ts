import { afterEach, describe, expect, test } from '@jest/globals';
import { closeSignInRigs, createSignInServerRig } from '../../../test/signInRig.ts';

afterEach(closeSignInRigs);

const forged = {
  request: 'x',
  request_uri: 'https://evil.example/request',
  authorization_details: '[]',
  claims: '{}',
  response_mode: 'form_post',
  prompt: 'none',
  login_hint: 'bob@example.com',
  domain_hint: 'x',
  audience: 'https://api.example',
  access_type: 'online',
};

async function readAuthorizeParameters(isStored: boolean) {
  const rig = await createSignInServerRig({ isStored });
  const query = new URLSearchParams({ p: 'policy', ...forged }).toString();
  rig.as.change({ metadata: { authorization_endpoint: `${rig.as.endpoints.authorization}?${query}` } });
  const { opened } = await rig.startSignIn('files');
  return new URL(opened.url).searchParams;
}

describe('where the browser leaves for', () => {
  test('nothing that is the operator’s to say comes with an address', async () => {
    const sent = await readAuthorizeParameters(true);
    for (const [name, value] of Object.entries(forged))
      expect([name, sent.get(name)]).not.toEqual([name, value]);
    expect(sent.get('p')).toBe('policy');
    expect(sent.get('prompt')).toBe('consent');
  });

  test('what an operator’s authorization server has stays', async () => {
    const sent = await readAuthorizeParameters(false);
    expect([sent.get('p'), sent.get('login_hint')]).toEqual(['policy', 'bob@example.com']);
  });
});
