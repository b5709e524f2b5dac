import type { FlowView } from '@behalf/contracts';
import type { TestUser } from './users.ts';

/** More steps than any sign-in takes. */
const MAX_STEPS = 12;

/** Follows a sign-in at a server as a browser would, from its start to the page at the end, whose address it gives. */
export async function completeSignIn(
  gatewayOrigin: string,
  user: Pick<TestUser, 'cookie'>,
  startResponse: Response,
): Promise<URL> {
  const { connectUrl } = (await startResponse.json()) as FlowView;
  const cookies = new Map([['', user.cookie]]);
  storeCookies(cookies, startResponse);
  let currentUrl = toGatewayUrl(new URL(connectUrl), gatewayOrigin);
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const isGatewayUrl = currentUrl.origin === gatewayOrigin;
    const cookie = [...cookies.values()].join('; ');
    const response = await fetch(currentUrl, {
      redirect: 'manual',
      ...(isGatewayUrl && { headers: { cookie } }),
    });
    if (isGatewayUrl) storeCookies(cookies, response);
    const location = response.headers.get('location');
    if (location === null) return currentUrl;
    currentUrl = toGatewayUrl(new URL(location, currentUrl), gatewayOrigin);
    if (currentUrl.pathname.startsWith('/oauth/') && currentUrl.origin === gatewayOrigin) return currentUrl;
  }
  throw new Error(`It leads round in circles: ${currentUrl.href}`);
}

/** What we hand out has the name that people know us by. */
function toGatewayUrl(url: URL, gatewayOrigin: string): URL {
  const isGatewayUrl = url.hostname === 'localhost' && url.port === new URL(gatewayOrigin).port;
  return isGatewayUrl ? new URL(url.pathname + url.search, gatewayOrigin) : url;
}

function storeCookies(cookies: Map<string, string>, response: Response): void {
  for (const line of response.headers.getSetCookie()) {
    const [pair = ''] = line.split(';');
    cookies.set(pair.slice(0, pair.indexOf('=')), pair);
  }
}
