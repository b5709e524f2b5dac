/** Where somebody goes on after something was added or taken away. */
export function focusFirstControl(container: Element | null): void {
  const controls = 'input:not([readonly]), select, textarea, button';
  container?.querySelector<HTMLElement>(controls)?.focus();
}

/** What has to be corrected first. */
export function focusFirstInvalid(container: Element | null): void {
  container?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid]')?.focus();
}
