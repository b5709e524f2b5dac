/** Where somebody goes on after something was added or taken away. */
export function focusFirstControl(box: Element | null): void {
  const controls = 'input:not([readonly]), select, textarea, button';
  box?.querySelector<HTMLElement>(controls)?.focus();
}

/** What has to be corrected first. */
export function focusFirstInvalid(box: Element | null): void {
  box?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid]')?.focus();
}
