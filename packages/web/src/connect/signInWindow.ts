/** The window in which somebody signs in. */
export interface SignInWindow {
  navigate(address: string): void;
  /** Also true of a window that went to a page which does not want to be seen by who opened it. */
  isClosed(): boolean;
  close(): void;
}

const POPUP_FEATURES = 'popup,width=560,height=760';

/** Must be called in a click, before anything is waited for: a browser opens windows for nobody else. */
export function openSignInWindow(): SignInWindow | undefined {
  const opened = window.open('about:blank', '_blank', POPUP_FEATURES);
  if (!opened || opened.closed) return undefined;
  return {
    navigate: (address) => opened.location.replace(address),
    isClosed: () => opened.closed,
    close: () => opened.close(),
  };
}
