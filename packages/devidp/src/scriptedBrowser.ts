/** One answer, after the redirects inside its origin were followed. */
export interface PageVisit {
  url: URL;
  status: number;
  text: string;
  /** Where the browser is sent next, when that is another origin. It is not followed. */
  externalRedirect?: URL;
}

/** As much of a browser as a login needs: cookies, redirects and forms. For tests. */
export interface ScriptedBrowser {
  open(url: string | URL, form?: Readonly<Record<string, string>>): Promise<PageVisit>;
  /** From an authorization request to the redirect back to its client, choosing a user where one must be chosen. */
  signIn(authorizationUrl: string | URL, userId: string): Promise<URL>;
}

export interface ScriptedBrowserParts {
  /** One that trusts the provider's certificate, where it has one. */
  fetch?: typeof globalThis.fetch;
}

const MAX_REDIRECTS = 10;

export function createScriptedBrowser({
  fetch = globalThis.fetch,
}: ScriptedBrowserParts = {}): ScriptedBrowser {
  const cookies = new Map<string, string>();

  const request = async (url: URL, form: Readonly<Record<string, string>> | undefined): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=;]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  };

  const open: ScriptedBrowser['open'] = async (address, form) => {
    let url = new URL(address);
    let response = await request(url, form);
    for (let step = 0; step < MAX_REDIRECTS; step += 1) {
      const location = response.headers.get('location');
      const text = await response.text();
      if (location === null) return { url, status: response.status, text };
      const target = new URL(location, url);
      if (target.origin !== url.origin)
        return { url, status: response.status, text, externalRedirect: target };
      url = target;
      response = await request(url, undefined);
    }
    throw new Error(`${url.origin} redirects without end.`);
  };

  return {
    open,
    async signIn(authorizationUrl, userId) {
      let visit = await open(authorizationUrl);
      if (!visit.externalRedirect) visit = await open(visit.url, { user: userId });
      if (!visit.externalRedirect)
        throw new Error(`The sign-in ended at ${visit.url.pathname} with ${visit.status}.`);
      return visit.externalRedirect;
    },
  };
}
