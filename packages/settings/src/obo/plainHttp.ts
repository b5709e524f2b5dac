import { parseUrl } from '@behalf/contracts';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Whether requests to the URL leave this machine without encryption. Text that is not a URL counts as unencrypted. */
export function isUnencryptedRemote(text: string): boolean {
  const url = parseUrl(text);
  if (url?.protocol === 'https:' || url?.protocol === 'wss:') return false;
  if (url?.protocol !== 'http:' && url?.protocol !== 'ws:') return true;
  return !LOOPBACK.test(url.hostname);
}

const ENTRY_PATTERN = /^(http|ws):\/\/(\*\.)?([^/:]+|\[[^\]]+\])(?::(\d+))?\/?$/i;

/**
 * Whether `mcpSettings.allowedDomains` lists this address with the scheme `http://` or `ws://`. With this
 * entry the operator declares the network as trusted. An entry without a scheme does not.
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
