import { spawn } from 'node:child_process';

const openers: Partial<Record<NodeJS.Platform, readonly [command: string, ...args: string[]]>> = {
  darwin: ['open'],
  // `start` is a shell built-in, and the shell would interpret the URL. This program does not.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  linux: ['xdg-open'],
};

/** Opens a URL in the user's browser. False if no browser could be started. */
export function openBrowser(
  url: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  const { platform } = process;
  const opener = openers[platform];
  const hasScreen = platform !== 'linux' || Boolean(env['DISPLAY'] ?? env['WAYLAND_DISPLAY']);
  if (!opener || !hasScreen || !/^https?:\/\//.test(url)) return Promise.resolve(false);
  const [command, ...args] = opener;
  return new Promise((resolve) => {
    // Without a shell, the URL is always a single argument.
    const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
