import type { FlowView } from '@behalf/contracts';
import type { Person } from './people.ts';

/** More steps than any sign-in takes. */
const MOST = 12;

/** Follows a sign-in at a server as a browser would, from its start to the page at the end, whose address it gives. */
export async function throughSignIn(
  home: string,
  who: Pick<Person, 'cookie'>,
  started: Response,
): Promise<URL> {
  const { connectUrl } = (await started.json()) as FlowView;
  const jar = new Map([['', who.cookie]]);
  keep(jar, started);
  let at = ownAddress(new URL(connectUrl), home);
  for (let steps = 0; steps < MOST; steps += 1) {
    const isOurs = at.origin === home;
    const cookie = [...jar.values()].join('; ');
    const response = await fetch(at, { redirect: 'manual', ...(isOurs && { headers: { cookie } }) });
    if (isOurs) keep(jar, response);
    const next = response.headers.get('location');
    if (next === null) return at;
    at = ownAddress(new URL(next, at), home);
    if (at.pathname.startsWith('/oauth/') && at.origin === home) return at;
  }
  throw new Error(`It leads round in circles: ${at.href}`);
}

/** What we hand out has the name that people know us by. */
function ownAddress(url: URL, home: string): URL {
  const isOurs = url.hostname === 'localhost' && url.port === new URL(home).port;
  return isOurs ? new URL(url.pathname + url.search, home) : url;
}

function keep(jar: Map<string, string>, response: Response): void {
  for (const line of response.headers.getSetCookie()) {
    const [pair = ''] = line.split(';');
    jar.set(pair.slice(0, pair.indexOf('=')), pair);
  }
}
