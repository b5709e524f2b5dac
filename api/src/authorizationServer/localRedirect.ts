import { isLoopbackHost, parseUrl } from '@behalf/contracts';

/** Whether somebody is sent to a program on their own machine: any other program there could take its place. */
export function isLocalRedirect(redirectUri: string): boolean {
  const { protocol, hostname = '' } = parseUrl(redirectUri) ?? {};
  return protocol !== 'https:' || isLoopbackHost(hostname);
}
