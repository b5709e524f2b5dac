/** A response, after redirects within its origin were followed. */
export interface PageVisit {
  url: URL;
  status: number;
  text: string;
  /** The target of a redirect to another origin, which is not followed. */
  externalRedirect?: URL;
}

/** A minimal browser for sign-ins: cookies, redirects and forms. For tests. */
export interface ScriptedBrowser {
  open(url: string | URL, form?: Readonly<Record<string, string>>): Promise<PageVisit>;
  /** Follows an authorization request to the redirect to its client. Selects the user if asked. */
  signIn(authorizationUrl: string | URL, userId: string): Promise<URL>;
}

export interface ScriptedBrowserParts {
  /** Must trust the provider's certificate. */
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
