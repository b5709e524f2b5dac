import { parseUrl } from '@behalf/contracts';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Whether everybody on the way could read what is sent there. A text that is no URL counts: nothing may go there. */
export function isUnencryptedRemote(text: string): boolean {
  const url = parseUrl(text);
  if (url?.protocol === 'https:' || url?.protocol === 'wss:') return false;
  if (url?.protocol !== 'http:' && url?.protocol !== 'ws:') return true;
  return !LOOPBACK.test(url.hostname);
}

const ENTRY_PATTERN = /^(http|ws):\/\/(\*\.)?([^/:]+|\[[^\]]+\])(?::(\d+))?\/?$/i;

/**
 * Whether `mcpSettings.allowedDomains` has this address with `http://` (or `ws://`) written before it: the operator's
 * word that the network between is theirs. An entry without a scheme says nothing about that.
 */
export function allowsPlainHttp(allowedDomains: readonly string[], text: string): boolean {
  const url = parseUrl(text);
  if (!url) return false;
  return allowedDomains.some((entry) => {
    const [, scheme = '', wildcard, host = '', port = '80'] = ENTRY_PATTERN.exec(entry.trim()) ?? [];
    if (`${scheme.toLowerCase()}:` !== url.protocol || (url.port || '80') !== String(Number(port)))
      return false;
    const allowedHost = parseUrl(`http://${host}/`)?.hostname;
    if (allowedHost === undefined) return false;
    return (
      url.hostname === allowedHost || (wildcard !== undefined && url.hostname.endsWith(`.${allowedHost}`))
    );
  });
}
