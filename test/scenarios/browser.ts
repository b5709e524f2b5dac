/** What a browser would keep and send: one cookie jar, our own Origin on writes. */
export function createBrowser(url: string) {
  const cookies = new Map<string, string>();

  async function send(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    const cookieHeader = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    if (cookieHeader) headers.set('cookie', cookieHeader);
    const response = await fetch(new URL(path, url), { ...init, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/max-age=0/i.test(cookie)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  }

  return {
    cookies,
    send,
    get: (path: string) => send(path),
    post: (path: string, body: unknown = {}, headers: Record<string, string> = {}) =>
      send(path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', origin: new URL(url).origin, ...headers },
      }),
    form: (path: string, fields: Record<string, string>) =>
      send(path, {
        method: 'POST',
        body: new URLSearchParams(fields),
        headers: { origin: new URL(url).origin },
      }),
  };
}

/** The secret inside a printed setup link. */
export function setupTokenOf(link: string | null): string {
  return new URL(link ?? 'http://none').searchParams.get('token') ?? '';
}

export const adaAccount = { email: 'ada@example.com', name: 'Ada', password: 'correct horse battery' };

/** The first administrator of a gateway, signed in. */
export async function createAdministrator(gateway: { url: string; setupLink: string | null }) {
  const browser = createBrowser(gateway.url);
  const response = await browser.post('/api/auth/setup', {
    token: setupTokenOf(gateway.setupLink),
    ...adaAccount,
  });
  if (response.status !== 201) throw new Error(`The account was not created: ${await response.text()}`);
  return browser;
}
