import { findProgram } from '@behalf/testkit';
import { chromium, type Browser } from 'playwright-core';

/** A real browser that talks to nobody but the pages under test. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: findProgram('chromium') ?? '',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
