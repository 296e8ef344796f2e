import { describe, expect, it } from 'vitest'
import type { Finding } from '@/api/types'
import type { Definition } from '@/diagram/definition'
import { fixesFor, sorted } from './fixes'

const BROKEN: Definition = {
  penstock: 1,
  name: 'm',
  steps: {
    encode: { task: 'x', emits: 'encoded', fails: 'failed' },
    pull: { task: 'y', after: 'job finished', fails: 'failed' },
    submit: { task: 'z', after: ['encoded', 'pull'] },
    mail: { task: 'mail', after: 'START', emits: 'FAIL', fails: 'FAIL' },
  },
}
const finding = (code: string, more: Partial<Finding>): Finding => ({ code, severity: 'error', step: null, event: null, message: '', hint: '', args: {}, line: null, trace: [], column: null, path: null, ...more })
const mended = (found: Finding, id: string, definition = BROKEN) => fixesFor(found, definition).find((fix) => fix.id === id)?.edit(definition)

describe('fixes', () => {
  it('let an event that nothing fires come from outside', () => {
    expect(mended(finding('missing-event', { step: 'pull', event: 'job finished' }), 'external')?.external).toEqual(['job finished'])
  })

  it('let a step wait for a port, and never call the name of a step an event from outside', () => {
    const decided: Definition = { ...BROKEN, steps: { check: { task: 'decide', with: { if: 'true' } }, go: { task: 'x', after: 'check' } } }
    const found = finding('missing-event', { step: 'go', event: 'check' })
    expect(fixesFor(found, decided).map((fix) => `${fix.id} ${fix.values.event}`)).toEqual(['port check.then', 'port check.else'])
    expect(mended(found, 'port', decided)?.steps.go?.after).toBe('check.then')
    expect(fixesFor(finding('dead-step', { step: 'go' }), decided)[0]?.id).toBe('port')
  })

  it('let a mail wait for the failure in place of START', () => {
    expect(mended(finding('fail-without-failure', { step: 'mail', event: 'FAIL' }), 'instead')?.steps.mail?.after).toBe('failed')
  })

  it('handle a failure that leads to a standstill as the others are handled', () => {
    const found = finding('deadlock', { step: 'submit', event: 'pull', trace: [{ fire: 'submit', port: 'failed' }] })
    const waiting = { ...BROKEN, steps: { ...BROKEN.steps, mail: { task: 'mail', after: 'failed' } } }
    expect(mended(found, 'handle', waiting)?.steps.submit?.fails).toBe('failed')
    expect(mended(found, 'either', waiting)?.steps.submit?.after).toBe('encoded | pull')
  })

  it('take an event away that nobody waits for, wherever it is fired', () => {
    const made = mended(finding('unused-event', { event: 'failed' }), 'drop')
    expect(made?.steps.encode).toEqual({ task: 'x', emits: 'encoded' })
    expect(made?.steps.pull?.fails).toBeUndefined()
  })

  it('are not made up where there is none', () => {
    expect(fixesFor(finding('time-outs', { step: 'pull' }), BROKEN)).toEqual([])
  })
})

describe('the list', () => {
  it('has errors first, then follows the drawing', () => {
    const list = [finding('unused-event', { severity: 'info', step: 'encode' }), finding('a', { step: 'submit' }), finding('b', { step: 'encode' })]
    expect(sorted(list, BROKEN).map((each) => each.code)).toEqual(['b', 'a', 'unused-event'])
  })
})
